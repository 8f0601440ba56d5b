"""The pure core: no clock, no files, no randomness, no logging, no locks, no globals."""
