"""Recognition of programs that open pages by themselves, and the rules they are told.

They see what is stored. Nothing is analysed for them, whoever they say they are: a crawler that
walks through links to tokens would spend the budget of the people for whom it is meant.
"""

import re

from litestar.datastructures import Headers

_ROBOT = re.compile(
    r"bot[-/;)]|crawl|spider|slurp|preview|facebookexternalhit|whatsapp|mastodon|embedly|archiver"
    r"|scrape|monitor|uptime|lighthouse|feedfetcher|python-requests|libwww|wget|go-http-client",
    re.IGNORECASE,
)
"""What user agents of crawlers, link previews and checks of reachability contain."""

_FETCHED_AHEAD = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
"""Headers in which browsers say that nobody has opened the page yet."""

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
"""Agents that open a link because somebody has posted it; they name themselves so in robots.txt."""

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
"""robots.txt: link previews may open token pages, crawlers the front page and what explains it.

Source: RFC 9309; `$` ends a path there by section 2.2.3.
"""


def is_robot(headers: Headers) -> bool:
    """True if no person has asked for the page, as far as the headers tell.

    A page of another site that loads ours as a picture or in a frame asks without its reader.
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
