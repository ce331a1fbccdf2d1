"""Background jobs: analysis of due tokens, search for creators, retries."""
