"""Protects the operator's network from those who choose where messages are sent."""

import ipaddress
import socket

import pytest

from api.watches.delivery.webhook_address import (
    MOST_URL_CHARS,
    PublicResolver,
    WebhookRefusedError,
    WebhookRules,
    is_public,
)
from api.watches.delivery.webhook_sender import WebhookSender
from api.watches.delivery.webhook_signature import new_secret

STRICT = WebhookRules(allow_http=False, allow_private=False)
LOOSE = WebhookRules(allow_http=True, allow_private=True)

REFUSED = [
    "",
    "https://",
    "https:///path",
    "bot.example.com/hook",
    "//bot.example.com",
    "http://bot.example.com/",
    "ftp://bot.example.com/",
    "file:///etc/passwd",
    "gopher://bot.example.com/",
    "https://user@bot.example.com/",
    "https://user:pass@bot.example.com/",
    "https://bot.example.com/#here",
    "https://bot.example.com:0/",
    "https://bot.example.com:70000/",
    "https://bot.example.com:x/",
    "https://bot.example.com/a b",
    "https://bot.example.com\\@127.0.0.1/",
    "https://bot.example.com/\r\nX-Header: 1",
    "https://b\u00f6t.example.com/",
    "https://[::1/",
    f"https://bot.example.com/{'a' * MOST_URL_CHARS}",
    # Addresses, in every form that some resolver takes.
    *(
        f"https://{host}/"
        for host in (
            *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1."),
            *("0.0.0.0", "0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1"),  # noqa: S104
            *("169.254.169.254", "192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.1"),
            *("240.0.0.1", "255.255.255.255"),
            *("[::]", "[::1]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[ff02::1]"),
            *("[2001:db8::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]"),
            *("[2002:7f00:1::]", "[2002:a00:1::]", "[::127.0.0.1]", "[64:ff9b:1::1]"),
        )
    ),
]

TAKEN = [
    "https://bot.example.com",
    "https://bot.example.com:8443/hook?key=secret",
    "https://8.8.8.8/hook",
    "https://[2606:4700:4700::1111]/",
    "https://[64:ff9b::808:808]/",
    "HTTPS://Bot.Example.Com/",
]


@pytest.mark.parametrize("url", REFUSED)
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(WebhookRefusedError):
        STRICT.check_url(url)


@pytest.mark.parametrize("url", TAKEN)
def test_urls_that_are_taken(url: str) -> None:
    STRICT.check_url(url)
    LOOSE.check_url(url)


@pytest.mark.parametrize(
    ("url", "http", "private", "is_taken"),
    [
        ("http://bot.example.com/", True, False, True),
        ("http://10.0.0.1/", True, False, False),
        ("https://10.0.0.1/", False, True, True),
        ("http://10.0.0.1/", False, True, False),
        ("http://127.0.0.1:8080/", True, True, True),
        ("file:///etc/passwd", True, True, False),
    ],
)
def test_what_the_operator_allows(url: str, http: bool, private: bool, is_taken: bool) -> None:
    rules = WebhookRules(allow_http=http, allow_private=private)
    if is_taken:
        rules.check_url(url)
    else:
        with pytest.raises(WebhookRefusedError):
            rules.check_url(url)


@pytest.mark.parametrize("text", ["192.88.99.2", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "::"])
def test_addresses_that_lead_elsewhere(text: str) -> None:
    """The second is of Teredo, and its client's address is 192.0.2.45."""
    assert not is_public(ipaddress.ip_address(text))


async def test_a_name_that_resolves_to_a_private_address_is_refused() -> None:
    with pytest.raises(WebhookRefusedError, match="private or reserved"):
        await PublicResolver(STRICT).resolve("localhost", 443, socket.AF_UNSPEC)
    assert await PublicResolver(LOOSE).resolve("localhost", 443, socket.AF_UNSPEC)


@pytest.mark.parametrize("second", ["127.0.0.1", "8.8.4.4"])
async def test_one_private_address_among_several_is_enough(
    second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = PublicResolver(STRICT)

    def find(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, 1, 6, "", (each, 0)) for each in ("8.8.8.8", second)]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    if second == "127.0.0.1":
        with pytest.raises(WebhookRefusedError):
            await resolver.resolve("rebinding.test", 443)
    else:
        assert len(await resolver.resolve("rebinding.test", 443)) == 2


@pytest.mark.parametrize(
    "url", ["https://localhost:9/", "https://127.0.0.1:9/", "http://bot.example.com/"]
)
async def test_nothing_is_sent_where_it_may_not_be(url: str) -> None:
    """Also to a URL that was allowed when the watch was made."""
    sender = WebhookSender(STRICT, timeout_s=5)
    try:
        attempt = await sender.send(url, new_secret(), message_id="msg_1", sent_at_s=1, body=b"{}")
    finally:
        await sender.aclose()
    assert attempt.error is not None
    assert "private or reserved" in attempt.error or "begins with https" in attempt.error
