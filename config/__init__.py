"""Configuration: units, settings, chain facts and the error tree; every other package may import
it."""
