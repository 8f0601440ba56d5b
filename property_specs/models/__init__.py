"""Oracles on plain lists and dicts: slow, obvious, and without a line of the code they judge."""
