"""Old blocks of a chain: back-fills, token histories, and maintenance of the tables."""
