"""Detection of robots, and the rules that robots.txt gives them.

Robots see stored reports only. Nothing is analysed for them: a crawler that follows links to tokens
would spend the budget of human visitors.
"""

import re

from litestar.datastructures import Headers

_ROBOT = re.compile(
    r"bot[-/;)]|crawl|spider|slurp|preview|facebookexternalhit|whatsapp|mastodon|embedly|archiver"
    r"|scrape|monitor|uptime|lighthouse|feedfetcher|python-requests|libwww|wget|go-http-client",
    re.IGNORECASE,
)
"""Parts of user agents of crawlers, link previews and uptime checks."""

_FETCHED_AHEAD = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
"""Headers of browsers for pages that are fetched ahead of a visit."""

LINK_PREVIEWS = (
    "Discordbot",
    "facebookexternalhit",
    "LinkedInBot",
    "Mastodon",
    "Slackbot-LinkExpanding",
    "TelegramBot",
    "Twitterbot",
    "WhatsApp",
)
"""Agents that preview posted links, by their names in robots.txt."""

ROBOTS_TEXT = "\n".join(
    (
        *(f"User-agent: {name}" for name in LINK_PREVIEWS),
        "Allow: /t/",
        "Allow: /assets/",
        "Disallow: /",
        "",
        "User-agent: *",
        "Allow: /$",
        "Allow: /assets/",
        "Allow: /docs",
        "Disallow: /",
        "",
    )
)
"""robots.txt: link previews may open token pages, crawlers only the front page and the explanatory
pages.

Source: RFC 9309; `$` ends a path there by section 2.2.3.
"""


def is_robot(headers: Headers) -> bool:
    """True if no person requested the page, judging by the headers.

    A page of another site that embeds this page as picture or frame requests it without its reader.
    """
    is_foreign = headers.get("Sec-Fetch-Site", "") in ("cross-site", "same-site")
    if is_foreign and headers.get("Sec-Fetch-Dest", "document") != "document":
        return True
    if any(
        headers.get(name, "").lower().startswith(("prefetch", "prerender", "preview"))
        for name in _FETCHED_AHEAD
    ):
        return True
    return _ROBOT.search(headers.get("User-Agent", "")) is not None
