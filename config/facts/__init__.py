"""Facts of chains, launch platforms and pool families: their schemas, and the loader of chains."""
