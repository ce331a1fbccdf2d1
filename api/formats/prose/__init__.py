"""Sentences on one token, built from its report."""
