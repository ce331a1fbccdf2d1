"""The HTTP API: serves reports, with authentication, limits, response formats and caching."""
