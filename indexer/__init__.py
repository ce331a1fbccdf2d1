"""Chain indexer: reads blocks and logs from nodes, decodes them, and writes rows to the store."""
