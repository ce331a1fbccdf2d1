"""Token sub-resources as data: one row for JSON route, page, MCP tool and OpenAPI operation."""
