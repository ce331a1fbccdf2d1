"""Search of tokens: readings of a typed text, and lists of the tokens found."""
