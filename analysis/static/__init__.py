"""Static analysis of runtime bytecode. Pure: no RPC node, no database."""
