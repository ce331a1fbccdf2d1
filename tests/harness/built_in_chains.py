"""The chains of the built-in files, loaded once a process."""

from config.facts.load_chains import load_chains

BUILT_IN_CHAINS = load_chains(None)
