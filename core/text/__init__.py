"""Text of unknown origin: visible form and look-alike characters."""
