"""What the page of a token shows, computed from one snapshot. Pure."""
