"""Pool state and trade routes of each pool family, in modules of their own."""
