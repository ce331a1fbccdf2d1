"""Prometheus metrics of a running service. Those of HTTP calls and API caches are in `api`."""
