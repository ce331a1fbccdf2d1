"""Simulated transactions on top of a pinned block, by whichever RPC methods the node supports."""
