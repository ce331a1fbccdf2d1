"""Benchmarks: one file per published question; each prints its figures and their conditions."""
