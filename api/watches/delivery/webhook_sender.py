"""Sends one message to one webhook: one attempt, of which only the status is read."""

import aiohttp
import msgspec

from api.watches.delivery.webhook_address import PublicResolver, WebhookRefusedError, WebhookRules
from api.watches.delivery.webhook_signature import signature_headers
from core.process.secret import Secret

_USER_AGENT = "Assay"
_GONE = 410
_OK = range(200, 300)
_MOST_CONNECTIONS = 256


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one attempt."""

    error: str | None = None
    """Reason why the message was not taken. None: it was."""
    is_gone: bool = False
    """True if the receiver has removed the webhook (410)."""
    retry_after_s: float | None = None
    """Value of Retry-After in seconds. None: there is none."""


class WebhookSender:
    """Sends messages over one pool of connections. To be closed."""

    def __init__(self, rules: WebhookRules, *, timeout_s: float) -> None:
        self._rules = rules
        self._timeout_s = timeout_s
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                resolver=PublicResolver(rules),
                use_dns_cache=False,
                limit=_MOST_CONNECTIONS,
                # The answer is not read, so a connection cannot be used again.
                force_close=True,
            ),
            timeout=aiohttp.ClientTimeout(total=timeout_s),
            headers={"User-Agent": _USER_AGENT, "Content-Type": "application/json"},
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def send(
        self, url: str, secret: Secret, *, message_id: str, sent_at_s: int, body: bytes
    ) -> Attempt:
        """Send a message. Follows no redirect, and reads only the head of the answer."""
        headers = signature_headers(secret, message_id=message_id, sent_at_s=sent_at_s, body=body)
        try:
            self._rules.check_url(
                url
            )  # the operator may have forbidden the address since the watch was made
            async with self._session.post(
                url, data=body, headers=headers, allow_redirects=False
            ) as response:
                return _attempt(response)
        except WebhookRefusedError as error:
            return Attempt(error=error.reason)
        except TimeoutError:
            return Attempt(error=f"no answer within {self._timeout_s:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Its text can contain the URL, and with it a key.
            return Attempt(error=f"cannot be reached: {type(error).__name__}")


def _attempt(response: aiohttp.ClientResponse) -> Attempt:
    response.close()
    if response.status in _OK:
        return Attempt()
    retry_after = response.headers.get("Retry-After", "")
    return Attempt(
        error=f"HTTP {response.status}",
        is_gone=response.status == _GONE,
        retry_after_s=float(retry_after)
        if retry_after.isascii() and retry_after.isdigit()
        else None,
    )
