"""Judging other implementations: doors, verdicts, reports, vectors, the broken cores."""
