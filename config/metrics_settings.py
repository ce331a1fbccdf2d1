"""Settings of the metrics for Prometheus."""

from typing import Annotated

import msgspec

from config.setting import Setting


class MetricsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the metrics for Prometheus."""

    address: Annotated[
        str,
        msgspec.Meta(pattern=r"^$|^(\[[0-9a-fA-F:]+\]|[^\s:/]+):[0-9]{1,5}$"),
        Setting(
            "Where `GET /metrics` is answered instead of at the API's address, host:port; "
            "empty: at the API's",
            env="ASSAY_METRICS_ADDRESS",
        ),
    ] = ""
