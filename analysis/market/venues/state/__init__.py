"""Pool states that are read in bulk, from storage or from a vault."""
