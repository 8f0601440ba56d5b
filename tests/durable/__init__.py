"""Durable storage: one contract for every backend, and what may go wrong under it."""
