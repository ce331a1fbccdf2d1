"""From request to response bytes: answer cache, compression, batches, CORS, and the HTTP server."""
