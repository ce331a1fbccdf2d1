"""The summary format: counted flags and one verdict."""
