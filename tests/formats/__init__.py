"""Logs of the released generations: what is read, what is refused, and where it says so."""
