"""Launch forensics: first buyers and recipients of tokens."""
