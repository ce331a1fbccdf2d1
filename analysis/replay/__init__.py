"""Evidence packs: one analysis with every call that it made, which others can run again."""
