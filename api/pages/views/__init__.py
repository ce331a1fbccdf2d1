"""Values of the page of a token, computed from one snapshot. Pure."""
