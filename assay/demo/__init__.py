"""An embedded chain with real DEX contracts and a zoo of tokens, for people and for tests."""
