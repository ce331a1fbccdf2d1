"""The MCP server: tools for AI agents over the API's own operations."""
