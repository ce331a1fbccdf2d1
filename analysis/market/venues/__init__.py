"""Pool state and trade routes, one module per pool family."""
