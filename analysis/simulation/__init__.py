"""Simulated transactions on top of a pinned block, by whatever means the node has."""
