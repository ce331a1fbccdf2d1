"""Reads of one block: the node's protocol, typed reads, batches, JSON-RPC and the multicall."""
