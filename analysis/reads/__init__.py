"""Reads of one pinned block: the node's protocol, batches, the multicall, ABI encoding."""
