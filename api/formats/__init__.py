"""A report in each of the shapes that callers ask for. Pure."""
