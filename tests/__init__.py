"""Examples and the runners of shared vectors and cases; laws live in `property_specs`."""
