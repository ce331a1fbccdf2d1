"""The commands of the command line, one a file; `assay.py` loads the one that is run."""
