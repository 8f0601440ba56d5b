"""What dsh_fp costs, as ratios measured in one run: python -m benchmarks."""
