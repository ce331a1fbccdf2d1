"""Who calls: keys, networks, limits and what a key has used."""
