"""Settings of scheduled jobs, apart from the jobs themselves."""

from typing import Annotated

import msgspec

from config.setting import Setting


class JobSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of scheduled jobs."""

    max_tokens: Annotated[
        int,
        msgspec.Meta(ge=1, le=1_000_000),
        Setting("Most tokens of one run of a job; a statement that gives more fails"),
    ] = 100_000
    export_folder: Annotated[
        str,
        Setting("Folder below which jobs export, each into a folder that it names; empty: nowhere"),
    ] = ""
