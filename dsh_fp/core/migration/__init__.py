"""Sessions of one generation as sessions of the next: one module a step, all of them pure."""
