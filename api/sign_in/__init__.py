"""People: who they are, by an OpenID Connect issuer, and the browser they are signed in with."""
