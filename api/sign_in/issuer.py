"""OpenID Connect client: discovery, authorization URL, code redemption, ID token verification.

Source: OpenID Connect Core 1.0 (3.1, code flow) and Discovery 1.0; RFC 7636 (PKCE); RFC 9207 (iss).
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

import aiohttp
import msgspec
import structlog
from async_lru import alru_cache
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri, prepare_token_request
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from api.sign_in.attempt import SignInAttempt
from api.sign_in.refusals import CodeRefusedError, IssuerDownError, UnverifiedError
from config.sign_in import OidcClient, is_safe_url

CALLBACK_PATH = "/login/callback"

LEEWAY_S = 60
"""Tolerated difference between the issuer's clock and ours, in seconds."""

_KEEP_S = 3600
_MOST_AT_ONCE = 16
_SCOPE = "openid email"
_MOST_BYTES = 1 << 20
_MOST_CHARS = 255
_OK = 200
_CALLERS_FAULT = 400

# Asymmetric signatures only: with a shared secret, or none, others could forge tokens.
_ALGORITHMS = frozenset(
    f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)
) | {"EdDSA", "Ed25519"}
_KEY_TYPES = frozenset({"RSA", "EC", "OKP"})

# Exceptions of the libraries for an invalid token, which may be any bytes.
_DOUBTS = (JoseError, msgspec.ValidationError, ValueError, TypeError, KeyError)

_log = structlog.get_logger(__name__)

T = TypeVar("T")


class PersonIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Identity of a person, as verified by the issuer."""

    subject: str
    """Permanent and unique within the issuer."""
    shown_as: str
    """Display name: may change, proves nothing."""


class _Metadata(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    authorization_response_iss_parameter_supported: bool = False


class _Keys(msgspec.Struct, frozen=True, kw_only=True):
    keys: list[dict[str, Any]]


class _Tokens(msgspec.Struct, frozen=True, kw_only=True):
    id_token: str
    access_token: str | None = None


class _Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The used claims, and those whose type only the library would compare (`iss` may not be a
    list)."""

    iss: str
    sub: Annotated[str, msgspec.Meta(min_length=1, max_length=_MOST_CHARS)]
    nonce: str
    email: Any = None


class Issuer:
    """One issuer with our client registration. Raises the errors of `refusals.py`."""

    def __init__(self, client: OidcClient, *, timeout_s: float, now_s: Callable[[], float]):
        self.client = client
        self._timeout_s = timeout_s
        self._now_s = now_s
        # Concurrent callers share one fetch; a failure is not cached.
        self._metadata = alru_cache(maxsize=1, ttl=_KEEP_S)(self._fetch_metadata)
        self._redeeming = asyncio.Semaphore(_MOST_AT_ONCE)
        self._keys = alru_cache(maxsize=1, ttl=_KEEP_S)(self._fetch_keys)

    @property
    def redirect_uri(self) -> str:
        """Return the callback URL, which is registered at the issuer."""
        return self.client.public_url + CALLBACK_PATH

    async def authorization_url(self, attempt: SignInAttempt) -> str:
        """Return the URL at the issuer where sign-in begins. Raises IssuerDownError."""
        metadata = await self._metadata()
        return str(
            prepare_grant_uri(
                metadata.authorization_endpoint,
                client_id=self.client.client_id,
                response_type="code",
                redirect_uri=self.redirect_uri,
                scope=_SCOPE,
                state=attempt.state,
                nonce=attempt.nonce,
                code_challenge=attempt.challenge,
                code_challenge_method="S256",
            )
        )

    async def is_from(self, named: str | None) -> bool:
        """True if a callback with this `iss` parameter may be this issuer's. Raises
        IssuerDownError."""
        metadata = await self._metadata()
        if named is None:
            return not metadata.authorization_response_iss_parameter_supported
        return named == metadata.issuer

    async def redeem(self, code: str, attempt: SignInAttempt) -> PersonIdentity:
        """Redeem a code for an identity. Raises IssuerDownError, CodeRefusedError, UnverifiedError.

        Anybody can send invalid codes, so at most `_MOST_AT_ONCE` are redeemed at a time.
        """
        metadata = await self._metadata()
        if self._redeeming.locked():
            raise IssuerDownError
        async with self._redeeming:
            tokens = await self._fetch_tokens(metadata, code, attempt)
        try:
            return self._verify(tokens, metadata, await self._keys(), attempt)
        except _DOUBTS:
            self._keys.cache_clear()  # the issuer may have rotated its keys since
            try:
                return self._verify(tokens, metadata, await self._keys(), attempt)
            except _DOUBTS as error:
                _log.warning("invalid ID token", reason=repr(error))
                raise UnverifiedError from error

    def _verify(
        self, tokens: _Tokens, metadata: _Metadata, keys: _Keys, attempt: SignInAttempt
    ) -> PersonIdentity:
        """Verify the ID token and return its identity. Raises what `_DOUBTS` lists."""
        usable = [
            key
            for key in keys.keys
            if key.get("kty") in _KEY_TYPES and key.get("use", "sig") == "sig"
        ]
        offered = set(metadata.id_token_signing_alg_values_supported)
        token = jwt.decode(
            tokens.id_token,
            KeySet.import_key_set({"keys": usable}),
            registry=JWSRegistry(
                algorithms=sorted(offered & _ALGORITHMS), strict_check_header=False
            ),
        )
        claims = CodeIDToken(
            token.claims,
            token.header,
            {
                "iss": {"essential": True, "value": metadata.issuer},
                "aud": {"essential": True, "value": self.client.client_id},
                "nonce": {"essential": True, "value": attempt.nonce},
            },
            {
                "client_id": self.client.client_id,
                "nonce": attempt.nonce,
                "access_token": tokens.access_token,
            },
        )
        claims.validate(now=int(self._now_s()), leeway=LEEWAY_S)
        return _identify(msgspec.convert(dict(claims), _Claims))

    async def _fetch_tokens(
        self, metadata: _Metadata, code: str, attempt: SignInAttempt
    ) -> _Tokens:
        secret = self.client.client_secret
        methods = metadata.token_endpoint_auth_methods_supported
        if secret is None:
            method = "none"
        elif "client_secret_basic" in methods or "client_secret_post" not in methods:
            method = "client_secret_basic"
        else:
            method = "client_secret_post"
        auth = ClientAuth(self.client.client_id, secret.value if secret else None, method)
        url, headers, body = auth.prepare(
            "POST",
            metadata.token_endpoint,
            {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
            prepare_token_request(
                "authorization_code",
                redirect_uri=self.redirect_uri,
                code=code,
                code_verifier=attempt.verifier,
            ),
        )
        status, answer = await self._ask("POST", url, headers=headers, data=body)
        if status == _CALLERS_FAULT:
            _log.warning("issuer refused a code", answer=answer[:_MOST_CHARS])
            raise CodeRefusedError
        return self._decode(status, answer, _Tokens, url)

    async def _fetch_metadata(self) -> _Metadata:
        url = self.client.issuer.removesuffix("/") + "/.well-known/openid-configuration"
        metadata = await self._get(url, _Metadata)
        endpoints = (metadata.authorization_endpoint, metadata.token_endpoint, metadata.jwks_uri)
        if metadata.issuer != self.client.issuer or not all(map(_is_endpoint, endpoints)):
            _log.error("issuer document names another issuer", url=url, issuer=metadata.issuer)
            raise IssuerDownError
        return metadata

    async def _fetch_keys(self) -> _Keys:
        return await self._get((await self._metadata()).jwks_uri, _Keys)

    async def _get(self, url: str, shape: type[T]) -> T:
        status, answer = await self._ask("GET", url, headers={"Accept": "application/json"})
        return self._decode(status, answer, shape, url)

    async def _ask(
        self, method: str, url: str, *, headers: Mapping[str, str], data: str | None = None
    ) -> tuple[int, bytes]:
        timeout = aiohttp.ClientTimeout(total=self._timeout_s)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.request(
                    method, url, headers=headers, data=data, allow_redirects=False
                ) as response,
            ):
                answer = b""
                async for chunk in response.content.iter_any():
                    answer += chunk
                    if len(answer) > _MOST_BYTES:
                        raise IssuerDownError
                return response.status, answer
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            _log.warning("issuer does not answer", url=url, reason=repr(error))
            raise IssuerDownError from error

    def _decode(self, status: int, answer: bytes, shape: type[T], url: str) -> T:
        if status == _OK:
            try:
                return msgspec.json.decode(answer, type=shape)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                _log.error("invalid response of the issuer", url=url, reason=str(error))
                raise IssuerDownError from error
        _log.warning("issuer returned an error", url=url, status=status)
        raise IssuerDownError


def _is_endpoint(url: str) -> bool:
    return is_safe_url(url.partition("?")[0])


def _identify(claims: _Claims) -> PersonIdentity:
    email = claims.email
    shown = email if isinstance(email, str) and email.isprintable() else claims.sub
    return PersonIdentity(subject=claims.sub, shown_as=shown[:_MOST_CHARS])
