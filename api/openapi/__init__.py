"""The OpenAPI document: what the framework generates, with meanings, examples and headers."""
