"""Settings of watches, and of the webhooks that their messages are sent to."""

from typing import Annotated

import msgspec

from config.setting import NonNegativeSeconds, Setting


class WatchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of watches and their webhooks."""

    allow_http: Annotated[
        bool,
        Setting("Webhooks may be http:// too, which anybody on the way can read"),
    ] = False
    allow_private: Annotated[
        bool,
        Setting(
            "Webhooks may lead to private and loopback addresses: whoever may make a watch can "
            "then send requests into the service's own network"
        ),
    ] = False
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds a webhook has to answer a message")
    ] = 15.0
    messages_kept_s: Annotated[
        NonNegativeSeconds,
        Setting(
            "Seconds for which messages of watches are kept to be read again; those that a webhook "
            "has not taken stay"
        ),
    ] = 604_800.0
