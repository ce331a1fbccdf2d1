"""Powers: the functions that change what holders have or can do, and the callers they require."""
