"""Examples for `dsh_fp.core.lossless`: values, their checks, their text."""
