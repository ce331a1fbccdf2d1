"""Launch platforms: which of them issued a token, and how that is known."""
