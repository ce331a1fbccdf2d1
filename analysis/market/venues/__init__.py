"""Trading per pool family: one module a family, each with the same functions."""
