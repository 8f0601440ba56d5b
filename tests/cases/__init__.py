"""Runs the library over folders of damaged and odd logs: `python -m tests.cases DIR`.

In here: reading a case's checks, mapping their words for operations and reasons to the
library's, and reporting. Not in here: any input file, and any knowledge of a single case.
"""
