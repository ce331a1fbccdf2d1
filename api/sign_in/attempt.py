"""One attempt to sign in: what ties the browser that began it to the answer that comes back."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode

import msgspec
from authlib.oauth2.rfc7636 import create_s256_code_challenge

ATTEMPT_S = 600
"""How long a person may take at the issuer."""

_BYTES = 32


class SignInAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """All of it follows from one secret, which lies in the browser's cookie and nowhere else.

    So a flood of attempts takes no room here, and no process needs to know of another's. State and
    nonce are seen by others; neither tells the secret, nor the verifier, which is only sent to
    redeem the code. Source: OpenID Connect Core, 3.1.2.1; RFC 7636, 4.1.
    """

    secret: str

    @classmethod
    def begin(cls) -> "SignInAttempt":
        """A new one."""
        return cls(secret=secrets.token_urlsafe(_BYTES))

    def __repr__(self) -> str:
        return "Attempt(secret='***')"

    @property
    def state(self) -> str:
        """Comes back with the browser."""
        return self._derive(b"state")

    @property
    def nonce(self) -> str:
        """Comes back within the signed token."""
        return self._derive(b"nonce")

    @property
    def verifier(self) -> str:
        """Proves to the issuer that who redeems the code is who began."""
        return self._derive(b"verifier")

    @property
    def challenge(self) -> str:
        """What the issuer is told of the verifier before."""
        return str(create_s256_code_challenge(self.verifier))

    def _derive(self, purpose: bytes) -> str:
        digest = hmac.digest(self.secret.encode(), purpose, hashlib.sha256)
        return urlsafe_b64encode(digest).rstrip(b"=").decode()
