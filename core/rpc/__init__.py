"""JSON-RPC over HTTP and WebSocket: messages, transports, and a client over several endpoints."""
