"""Provider bodies: what a past request was on the wire, and what was captured there."""
