"""The feature table: every reported field, declared once."""
