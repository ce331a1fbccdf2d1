"""Authentication and limits: API keys, client networks, rate limits, quotas and usage."""
