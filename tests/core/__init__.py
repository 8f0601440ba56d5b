"""Examples for `dsh_fp.core`, one module for each of its modules."""
