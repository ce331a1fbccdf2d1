"""Units, settings, chain facts and the error tree: what every other package may import."""
