"""Settings of off-chain services that an analysis may use: prices, verified sources."""

from typing import Annotated, Literal

import msgspec

from config.setting import NonNegativeSeconds, Positive, Setting


class MarketDataSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of market-data services."""

    aggregator: Annotated[
        Literal["dexscreener", "defillama"],
        Setting("Who is asked for prices first: dexscreener or defillama"),
    ] = "dexscreener"
    dexscreener_url: Annotated[str, Setting("Base address of DexScreener; empty: not asked")] = (
        "https://api.dexscreener.com"
    )
    dexscreener_per_minute: Annotated[
        Positive, Setting("Requests a minute that DexScreener allows")
    ] = 300
    geckoterminal_url: Annotated[
        str, Setting("Base address of GeckoTerminal; empty: not asked")
    ] = "https://api.geckoterminal.com/api/v2"
    geckoterminal_per_minute: Annotated[
        Positive, Setting("Requests a minute that GeckoTerminal allows")
    ] = 30
    defillama_url: Annotated[
        str, Setting("Base address of DefiLlama's prices; empty: not asked")
    ] = "https://coins.llama.fi"
    defillama_per_minute: Annotated[
        Positive, Setting("Requests a minute that DefiLlama allows")
    ] = 300
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds one request to a market-data service may take")
    ] = 3.0
    cache_s: Annotated[
        NonNegativeSeconds, Setting("Seconds an answer of a market-data service is used again")
    ] = 30.0


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the services for verified contract sources."""

    sourcify_url: Annotated[
        str, Setting("Base address of Sourcify, which knows verified sources; empty: not asked")
    ] = "https://sourcify.dev/server"
    sourcify_per_minute: Annotated[Positive, Setting("Requests a minute to Sourcify")] = 120
    etherscan_url: Annotated[
        str, Setting("Base address of Etherscan's API, asked where there is a key for it")
    ] = "https://api.etherscan.io/v2/api"
    etherscan_per_minute: Annotated[
        Positive, Setting("Requests a minute that the Etherscan plan allows")
    ] = 180
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds one request for a verified source may take")
    ] = 4.0
    cache_s: Annotated[
        NonNegativeSeconds, Setting("Seconds what a source service said is used again")
    ] = 3600.0
