"""A token's meaning read from its code: roles of storage, guards, balance changes, conditions."""
