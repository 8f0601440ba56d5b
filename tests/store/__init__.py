"""Examples for `dsh_fp.store`: what its listeners hear is written down by a Diary."""
