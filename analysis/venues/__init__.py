"""How each pool family is traded: one file a family, the same two questions answered by each."""
