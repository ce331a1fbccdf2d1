"""The OpenID Connect client for sign-in: one client of one issuer, read from the environment."""

import ipaddress
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from config.setting import Setting
from core.errors import ConfigError
from core.process.secret import Secret


class OidcClient(msgspec.Struct, frozen=True, kw_only=True):
    """This deployment's client registration at its issuer."""

    issuer: Annotated[
        str,
        Setting(
            "OpenID Connect issuer for sign-in, exactly as in its discovery document; "
            "without it sign-in is off",
            env="ASSAY_OIDC_ISSUER",
        ),
    ]
    """Exactly as in the issuer's own documents, to the last slash."""
    client_id: Annotated[
        str,
        Setting(
            "Client id of this deployment at the issuer; register /login/callback under the public "
            "address as redirect",
            env="ASSAY_OIDC_CLIENT_ID",
        ),
    ]
    client_secret: Annotated[
        Secret | None,
        Setting(
            "Secret of that client; without it the client is a public one, with PKCE alone",
            env="ASSAY_OIDC_CLIENT_SECRET",
        ),
    ]
    """None: a public client, authenticated by PKCE alone."""
    public_url: Annotated[
        str,
        Setting(
            "Address under which people reach this deployment, https://... without a path; "
            "needed for signing in",
            env="ASSAY_PUBLIC_URL",
        ),
    ]
    """Public origin of this deployment: scheme, host and port, without a trailing slash."""

    @property
    def is_secure(self) -> bool:
        """True if the public URL is https, so cookies are restricted to https."""
        return self.public_url.startswith("https://")


def load_oidc_client(env: Mapping[str, str], *, source: str) -> OidcClient | None:
    """Return the client, or None if no issuer is set. Raises ConfigError for missing variables, and
    for http to another machine.

    Over plain http an observer of the traffic could sign in as anybody; it is allowed within one
    machine, for trials.
    """
    issuer = env.get("ASSAY_OIDC_ISSUER")
    if not issuer:
        return None
    for name in ("ASSAY_OIDC_CLIENT_ID", "ASSAY_PUBLIC_URL"):
        if not env.get(name):
            raise ConfigError(source=source, key=name, reason="is required with ASSAY_OIDC_ISSUER")
    public_url = env["ASSAY_PUBLIC_URL"].removesuffix("/")
    _check(issuer, source=source, key="ASSAY_OIDC_ISSUER")
    _check(public_url, source=source, key="ASSAY_PUBLIC_URL")
    if urlsplit(public_url).path or public_url != public_url.lower():
        raise ConfigError(
            source=source, key="ASSAY_PUBLIC_URL", reason="expects a lower-case origin, no path"
        )
    secret = env.get("ASSAY_OIDC_CLIENT_SECRET")
    return OidcClient(
        issuer=issuer,
        client_id=env["ASSAY_OIDC_CLIENT_ID"],
        client_secret=Secret(secret) if secret else None,
        public_url=public_url,
    )


def is_safe_url(url: str) -> bool:
    """True for https, or http to this machine; with neither user nor query."""
    try:
        parts = urlsplit(url)
        extra = parts.username is not None or parts.query or parts.fragment or parts.port == 0
    except ValueError:
        return False
    if extra or not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_this_machine(parts.hostname))


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check(url: str, *, source: str, key: str) -> None:
    if not is_safe_url(url):
        reason = "expects an https:// address, or http:// on this machine, with no user or query"
        raise ConfigError(source=source, key=key, reason=reason)
