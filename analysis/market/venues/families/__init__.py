"""Pool families, one module each, and the forms that several share."""
