"""One sign-in attempt: binds the browser that began it to the callback (state, nonce, PKCE)."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode

import msgspec
from authlib.oauth2.rfc7636 import create_s256_code_challenge

ATTEMPT_S = 600
"""Seconds a person may take at the issuer."""

_BYTES = 32


class SignInAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """Values of an attempt, all derived from one secret that is only in the browser's cookie.

    So attempts take no memory here, and processes share no state. State and nonce are visible to
    others; neither reveals the secret, nor the verifier, which is only sent to redeem the code.
    Source: OpenID Connect Core, 3.1.2.1; RFC 7636, 4.1.
    """

    secret: str

    @classmethod
    def begin(cls) -> "SignInAttempt":
        """Return a new attempt with a random secret."""
        return cls(secret=secrets.token_urlsafe(_BYTES))

    def __repr__(self) -> str:
        return "Attempt(secret='***')"

    @property
    def state(self) -> str:
        """Return the `state` parameter, which the callback must return."""
        return self._derive(b"state")

    @property
    def nonce(self) -> str:
        """Return the nonce, which the signed ID token must contain."""
        return self._derive(b"nonce")

    @property
    def verifier(self) -> str:
        """Return the PKCE verifier, which proves that the redeemer of the code began the
        attempt."""
        return self._derive(b"verifier")

    @property
    def challenge(self) -> str:
        """Return the PKCE challenge, a digest of the verifier, sent to the issuer first."""
        return str(create_s256_code_challenge(self.verifier))

    def _derive(self, purpose: bytes) -> str:
        digest = hmac.digest(self.secret.encode(), purpose, hashlib.sha256)
        return urlsafe_b64encode(digest).rstrip(b"=").decode()
