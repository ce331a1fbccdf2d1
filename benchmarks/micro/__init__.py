"""One function each, timed in this process by pytest-benchmark: `make bench` runs them.

Two commits are compared with `--benchmark-save` and `--benchmark-compare` (CONTRIBUTING.md).
"""
