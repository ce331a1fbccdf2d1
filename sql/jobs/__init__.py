"""Scheduled jobs and their runs."""
