"""Cases for the laws: built to be valid (or broken in one known way), never filtered."""
