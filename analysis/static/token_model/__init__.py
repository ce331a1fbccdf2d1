"""Token model of one contract: storage roles, guards, balance changes and trade conditions."""
