"""Declarations of the commands; `assay/cli.py` imports the module of the one that is run."""
