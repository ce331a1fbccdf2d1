"""Credentials of an object store, by the names that its other clients read, too."""

from collections.abc import Mapping
from typing import Final

import msgspec

from core.process.secret import Secret

KEY_ID: Final = "AWS_ACCESS_KEY_ID"
SECRET: Final = "AWS_SECRET_ACCESS_KEY"  # noqa: S105 - a name
REGION: Final = "AWS_REGION"
ENDPOINT: Final = "AWS_ENDPOINT_URL"


class ObjectStoreKeys(msgspec.Struct, frozen=True, kw_only=True):
    """Credentials and place of an S3 bucket."""

    key_id: str
    secret: Secret
    region: str | None = None
    """None: the client's default."""
    endpoint: str | None = None
    """http:// or https://, host and port of a server other than AWS. None: AWS."""


def read_object_store(env: Mapping[str, str]) -> ObjectStoreKeys | None:
    """Return the credentials in the environment. None: one of the two is missing."""
    key_id, secret = env.get(KEY_ID), env.get(SECRET)
    if not key_id or not secret:
        return None
    return ObjectStoreKeys(
        key_id=key_id,
        secret=Secret(secret),
        region=env.get(REGION) or None,
        endpoint=env.get(ENDPOINT) or None,
    )
