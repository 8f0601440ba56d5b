"""Runs the library over any folder of conformance vectors: `python -m tests.conformance DIR`.

In here: reading vector files, asking the library what a case asks, comparing by value, and
reporting. Not in here: any vector, and any knowledge of a single case but its id in `declined`.
"""
