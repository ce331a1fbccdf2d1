"""Pure renderers of a report into each response format."""
