"""The commands of the command line, one a file; `assay/cli.py` loads the one that is run."""
