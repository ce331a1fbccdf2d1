"""Facts of the token contract: admission, metadata, owner, proxy, holders, deadlines, caps."""
