"""Search of tokens by people: what a typed text means, and how what is found is listed."""
