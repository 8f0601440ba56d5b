"""Secrets out of a session: what is sought, where it may stand, and what is put in its place."""
