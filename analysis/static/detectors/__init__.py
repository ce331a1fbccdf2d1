"""Detectors: one file for each property of the code; `registry` lists them all."""
