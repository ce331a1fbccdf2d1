"""Signatures of webhooks, by which a receiver verifies the sender.

Source: the Standard Webhooks specification, "Signature scheme", symmetric signatures. The library
of its authors does the same, but its import takes longer than a signature.
"""

import base64
import hashlib
import hmac
import secrets
from typing import Final

from core.process.secret import Secret

_PREFIX: Final = "whsec_"
_SECRET_BYTES: Final = 32
"""The specification allows 24 to 64."""


def new_secret() -> Secret:
    """Return a random secret, in the form that receivers use."""
    return Secret(_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode())


def signature_headers(
    secret: Secret, *, message_id: str, sent_at_s: int, body: bytes
) -> dict[str, str]:
    """Return the headers that identify, date and sign a message.

    The id is that of the message, the same however often it is sent; the time is that of the
    attempt.
    """
    key = base64.b64decode(secret.value.removeprefix(_PREFIX))
    signed = b"%s.%d.%s" % (message_id.encode(), sent_at_s, body)
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(sent_at_s),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
