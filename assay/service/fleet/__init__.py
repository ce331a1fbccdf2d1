"""Analyses shared by the processes of a fleet."""
