"""Sign-in of people with an OpenID Connect issuer, and their browser sessions."""
