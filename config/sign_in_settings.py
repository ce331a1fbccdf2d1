"""Settings of sign-in."""

from typing import Annotated

import msgspec

from config.setting import NonNegativeSeconds, Setting


class SignInSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of sign-in."""

    session_s: Annotated[
        NonNegativeSeconds, Setting("Seconds after which a person has to sign in again")
    ] = 43_200.0
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds one request to the issuer may take")
    ] = 10.0
