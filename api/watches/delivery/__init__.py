"""Delivery of watches' messages to webhooks."""
