"""Provider bodies, captures, and the two compared."""
