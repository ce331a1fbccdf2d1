"""The token contract itself: admission, metadata, owner, proxy, holders, deadlines, caps."""
