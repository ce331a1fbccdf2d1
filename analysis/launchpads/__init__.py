"""Launch platforms: detection of the platform that issued a token."""
