"""The OpenAPI document: Litestar's, completed with descriptions, examples and headers."""
