"""Static analysis of runtime bytecode. Pure: no node, no store."""
