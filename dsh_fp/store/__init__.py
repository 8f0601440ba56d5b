"""Live sessions: a pure lifecycle machine, and the small shell that acts on it."""
