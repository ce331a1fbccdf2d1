"""Work that nobody waits for: tokens due for analysis, creators, retries."""
