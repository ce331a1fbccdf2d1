"""Storage of a token: roles of its variables, writers and guarded stores."""
