"""What new blocks say about watched tokens: their logs, calls of them, and trades."""
