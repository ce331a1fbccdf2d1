"""From a question to bytes: cache, packing, batches, CORS, the server itself."""
