"""One file for each question about a code."""
