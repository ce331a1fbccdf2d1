"""Final chain events in DuckLake: moved there from the serving state, merged, dropped with age."""
