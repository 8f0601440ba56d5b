"""Examples for `dsh_fp.storage`, one module for each of its modules."""
