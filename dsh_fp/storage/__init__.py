"""Logs on disk."""
