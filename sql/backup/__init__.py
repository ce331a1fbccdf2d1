"""Copies of a whole store, made while it is in use, and put back."""
