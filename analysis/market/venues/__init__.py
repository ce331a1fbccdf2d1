"""How each pool family is traded: one file a family, the same questions answered by each."""
