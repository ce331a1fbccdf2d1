"""Settings of a deployment as structs: name, type, bounds, default and help of each, once."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from config.job_definition import JobDefinition
from config.setting import NonNegativeSeconds, Positive, Setting
from config.sign_in import OidcClient
from config.store_address import LAKE_VARIABLE, STORE_VARIABLE, FileAddress, StoreAddress
from core.process.secret import Secret, mask_url
from core.rpc.limits import RpcLimits


class MarketDataSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of market-data services."""

    aggregator: Annotated[
        Literal["dexscreener", "defillama"],
        Setting("First source of prices: dexscreener or defillama"),
    ] = "dexscreener"
    dexscreener_url: Annotated[str, Setting("Base address of DexScreener; empty: not used")] = (
        "https://api.dexscreener.com"
    )
    dexscreener_per_minute: Annotated[
        Positive, Setting("Requests a minute that DexScreener allows")
    ] = 300
    geckoterminal_url: Annotated[str, Setting("Base address of GeckoTerminal; empty: not used")] = (
        "https://api.geckoterminal.com/api/v2"
    )
    geckoterminal_per_minute: Annotated[
        Positive, Setting("Requests a minute that GeckoTerminal allows")
    ] = 30
    defillama_url: Annotated[
        str, Setting("Base address of DefiLlama's prices; empty: not used")
    ] = "https://coins.llama.fi"
    defillama_per_minute: Annotated[
        Positive, Setting("Requests a minute that DefiLlama allows")
    ] = 300
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds one request to a market-data service may take")
    ] = 3.0
    cache_s: Annotated[
        NonNegativeSeconds,
        Setting("Seconds for which a market-data answer is reused"),
    ] = 30.0


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the services for verified contract sources."""

    sourcify_url: Annotated[
        str, Setting("Base address of Sourcify, a registry of verified sources; empty: not used")
    ] = "https://sourcify.dev/server"
    sourcify_per_minute: Annotated[Positive, Setting("Requests a minute to Sourcify")] = 120
    etherscan_url: Annotated[
        str, Setting("Base address of Etherscan's API, used if there is a key for it")
    ] = "https://api.etherscan.io/v2/api"
    etherscan_per_minute: Annotated[
        Positive, Setting("Requests a minute that the Etherscan plan allows")
    ] = 180
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds one request for a verified source may take")
    ] = 4.0
    cache_s: Annotated[
        NonNegativeSeconds, Setting("Seconds for which an answer of a source service is reused")
    ] = 3600.0


class SignInSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of sign-in."""

    session_s: Annotated[
        NonNegativeSeconds, Setting("Seconds after which a person must sign in again")
    ] = 43_200.0
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds one request to the issuer may take")
    ] = 10.0


class MetricsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the metrics for Prometheus."""

    address: Annotated[
        str,
        msgspec.Meta(pattern=r"^$|^(\[[0-9a-fA-F:]+\]|[^\s:/]+):[0-9]{1,5}$"),
        Setting(
            "Separate address for `GET /metrics`, host:port; empty: the API's",
            env="ASSAY_METRICS_ADDRESS",
        ),
    ] = ""


class JobSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of scheduled jobs."""

    max_tokens: Annotated[
        int,
        msgspec.Meta(ge=1, le=1_000_000),
        Setting("Most tokens of one run of a job; a statement that returns more fails"),
    ] = 100_000
    export_folder: Annotated[
        str,
        Setting("Parent of the folders into which jobs export; empty: exports are off"),
    ] = ""


class WatchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of watches and their webhooks."""

    allow_http: Annotated[
        bool,
        Setting("Webhooks may be http:// too, which others on the network can read"),
    ] = False
    allow_private: Annotated[
        bool,
        Setting(
            "Webhooks may lead to private and loopback addresses: the owner of a watch can "
            "then send requests into the service's own network"
        ),
    ] = False
    timeout_s: Annotated[
        NonNegativeSeconds, Setting("Seconds a webhook has to answer a message")
    ] = 15.0
    messages_kept_s: Annotated[
        NonNegativeSeconds,
        Setting(
            "Seconds for which messages of watches are kept; those that a webhook "
            "has not accepted stay"
        ),
    ] = 604_800.0


class RpcSettings(RpcLimits, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of JSON-RPC requests to nodes."""

    timeout_s: Annotated[NonNegativeSeconds, Setting("Seconds one request to a node may take")] = (
        10.0
    )
    attempts: Annotated[
        Positive,
        Setting("Times a request is tried, over all endpoints of a chain, before it fails"),
    ] = 4
    max_batch: Annotated[
        Positive, Setting("Calls in one JSON-RPC batch; more are sent as several batches")
    ] = 100
    max_response_bytes: Annotated[
        Positive, Setting("Longest answer of a node that is read; a longer one counts as a failure")
    ] = 67_108_864


class IndexerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of chain following."""

    poll_s: Annotated[
        NonNegativeSeconds,
        Setting("Seconds between polls of the head where there is no subscription"),
    ] = 1.0
    late_logs_s: Annotated[
        NonNegativeSeconds,
        Setting(
            "Seconds after which logs of blocks at the head are read a second time, as some "
            "nodes index them late; 0: never"
        ),
    ] = 20.0
    initial_log_range: Annotated[
        Positive,
        Setting(
            "Blocks in the first eth_getLogs of a back-fill; halved on refusal, grown on success"
        ),
    ] = 100
    max_log_range: Annotated[Positive, Setting("Most blocks in one eth_getLogs")] = 10_000
    commit_rows: Annotated[
        Positive, Setting("Rows a back-fill gathers before it commits them with its checkpoint")
    ] = 200_000
    history_logs: Annotated[
        Positive,
        Setting(
            "Most transfers fetched of one token's history; beyond it the list of "
            "holders stays incomplete"
        ),
    ] = 200_000
    history_requests: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting("Most log queries for one token's history; 0: no history is fetched"),
    ] = 2000
    trades_kept_s: Annotated[
        float,
        msgspec.Meta(ge=86_400),
        Setting(
            "Seconds after which a stored trade is forgotten; prices are taken from those "
            "of the last day"
        ),
    ] = 604_800.0
    """At least the day whose trades serve as prices."""
    launches_kept_s: Annotated[
        float,
        msgspec.Meta(ge=604_800),
        Setting("Seconds for which the first trades and transfers of tokens are kept"),
    ] = 7_776_000.0
    """At least a week: a first trade may come that long after the first pool."""
    history_kept_s: Annotated[
        NonNegativeSeconds,
        Setting("Seconds for which the history of reports is kept, for queries in SQL"),
    ] = 7_776_000.0
    feed_kept_s: Annotated[
        NonNegativeSeconds,
        Setting("Seconds for which lines of the feed of a chain can be read again"),
    ] = 604_800.0
    changed_every_blocks: Annotated[
        Positive,
        Setting("Blocks between two analyses of a watched token that changes in every block"),
    ] = 5
    watched_receipts: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting(
            "Most receipts a block that are read for calls and trades of watched tokens; 0: none"
        ),
    ] = 50
    watched_words: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting(
            "Most storage words and balances of watched tokens that are compared in one block; "
            "more are compared in rotation; 0: none"
        ),
    ] = 60_000
    unread_transactions: Annotated[
        tuple[str, ...],
        Setting(
            "Chains, by slug, whose blocks are not read with their transactions for watched tokens"
        ),
    ] = ()
    lake_gb: Annotated[
        float,
        msgspec.Meta(ge=0),
        Setting(
            "Disk in GB for the final events of one chain; the oldest transfers are dropped "
            "beyond it, which changes no balance and no report; 0: no bound"
        ),
    ] = 0.0


class LaunchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Thresholds of launch forensics."""

    early_blocks: Annotated[
        Positive,
        Setting("Blocks from the first trade on, its own included, whose buyers are early"),
    ] = 3
    early_s: Annotated[
        int,
        msgspec.Meta(ge=0, le=600),
        Setting("Seconds after the first trade in which buyers are early, too"),
    ] = 12
    sniper_supply_pct: Annotated[
        float,
        msgspec.Meta(gt=0, le=100),
        Setting("Percent of the supply from which a purchase of an early buyer is a sniper's"),
    ] = 1.0
    bundle_wallets: Annotated[
        int,
        msgspec.Meta(ge=2, le=100),
        Setting("Least early buyers in one block that are a bundle"),
    ] = 3
    linked_wallets: Annotated[
        int,
        msgspec.Meta(ge=2, le=100),
        Setting("Least early buyers in one transaction, or with one funder, that are a bundle"),
    ] = 2


class AnalysisSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of token analysis."""

    wait_s: Annotated[
        float,
        msgspec.Meta(ge=0),
        Setting(
            "Seconds the first request for a token waits; unsettled values are then sent "
            "as pending or null"
        ),
    ] = 8.0
    simulated_pools: Annotated[
        int,
        msgspec.Meta(ge=5),
        Setting("Pools of a token, deepest first, in which a buy and a sell are simulated"),
    ] = 5
    """At least the five deepest: decisions.md, "Readings of the specification"."""
    min_liquidity_usd: Annotated[
        float,
        msgspec.Meta(ge=0),
        Setting("A pool must hold more than this to be simulated and to count as liquid"),
    ] = 100.0
    refresh_after_s: Annotated[
        NonNegativeSeconds,
        Setting("Age in seconds at which a request refreshes a token's report"),
    ] = 300.0
    concurrency: Annotated[Positive, Setting("Tokens analysed at the same time")] = 4
    serve_stale_s: Annotated[
        NonNegativeSeconds,
        Setting(
            "Oldest report in seconds that is served while no node answers; older ones give 500"
        ),
    ] = 3600.0
    longest_run_s: Annotated[
        NonNegativeSeconds,
        Setting("Seconds after which an analysis that hangs on a slow node is given up"),
    ] = 120.0
    rounds_every_s: Annotated[
        NonNegativeSeconds,
        Setting("Seconds between searches for tokens with a pool that were never requested"),
    ] = 2.0
    background_refresh_s: Annotated[
        NonNegativeSeconds,
        Setting(
            "Age in seconds at which a report is refreshed without a request; "
            "seven times that where no pool holds anything"
        ),
    ] = 86_400.0
    background_requests_per_hour: Annotated[
        Positive,
        Setting("Node requests an hour and chain for analyses without a request"),
    ] = 60_000
    background_cpu_s_per_hour: Annotated[
        NonNegativeSeconds,
        Setting("Processor seconds an hour and chain for analyses without a request"),
    ] = 900.0
    owner_simulation: Annotated[
        bool,
        Setting("Also simulate whether the owner can change balances; else that check is absent"),
    ] = False
    liquidity_holders: Annotated[
        Literal["never", "young", "always"],
        Setting("Find who can withdraw liquidity: of young pools (30 days), always or never"),
    ] = "young"
    established_after_s: Annotated[
        NonNegativeSeconds,
        Setting("Least age in seconds of a token with an established track record"),
    ] = 15_552_000.0
    established_sellers: Annotated[
        Positive,
        Setting("Least number of accounts that have sold such a token"),
    ] = 1_000
    established_sellers_per_day: Annotated[
        int,
        msgspec.Meta(ge=1, le=50),
        Setting("Most new sellers of one day that count towards that number"),
    ] = 20
    established_liquidity_usd: Annotated[
        float,
        msgspec.Meta(ge=0),
        Setting(
            "Least liquidity of such a token, in USD, that neither its creator or owner nor the "
            "largest other holder can withdraw"
        ),
    ] = 100_000.0

    @property
    def finds_liquidity_holders(self) -> bool:
        """True if the holders of liquidity are found for some tokens."""
        return self.liquidity_holders != "never"


SettingOrigin = Annotated[str, msgspec.Meta(pattern=r"^(\*|https?://[^/\s]+)$")]
"""A site's origin as browsers send it, or * for all."""


class ApiSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the HTTP API."""

    cache_s: Annotated[
        float,
        msgspec.Meta(ge=0, le=120),
        Setting("Seconds an encoded answer may be served again; the specification allows 120"),
    ] = 120.0
    max_cached_bytes: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting("Memory for reports and encoded answers; the least recently used go first"),
    ] = 67_108_864
    trusted_proxies: Annotated[
        tuple[str, ...],
        Setting("Addresses or networks of proxies that name the real client in a header"),
    ] = ()
    """Networks in CIDR form or single addresses."""
    forwarded_header: Annotated[
        Literal["x-forwarded-for", "forwarded"],
        Setting(
            "The header those proxies write: x-forwarded-for or forwarded; the other is ignored"
        ),
    ] = "x-forwarded-for"
    """One of them only: a header that the proxy does not write may be forged by the caller."""
    connections: Annotated[
        int,
        msgspec.Meta(ge=64, le=65_536),
        Setting(
            "Most open connections; fewer if the limit of open files is too low, of which 512 are "
            "kept for the service"
        ),
    ] = 8_192
    connections_per_network: Annotated[
        Positive,
        Setting(
            "Most open connections of one network, an IPv4 address or an IPv6 /64; trusted proxies "
            "have no bound"
        ),
    ] = 256
    cors_origins: Annotated[
        tuple[SettingOrigin, ...],
        Setting(
            "Sites, https://..., whose scripts may call from a browser, or *; never with cookies"
        ),
    ] = ()
    docs_folder: Annotated[
        str,
        Setting("Folder of the pages built by `make docs`, served below /docs; empty: not served"),
    ] = ".cache/site"


class PublicSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the pages for people without a key."""

    is_open: Annotated[
        bool,
        Setting(
            "Token pages and searches by name are public; false: for keys and signed-in people only"
        ),
    ] = True
    pages_per_minute: Annotated[
        Positive,
        Setting(
            "Pages a minute for all callers without a key in one network: an IPv4 address, or an "
            "IPv6 /64"
        ),
    ] = 120
    analyses_per_hour: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting(
            "Analyses an hour that callers without a key in one network may cause; beyond it the "
            "stored report is shown with its age"
        ),
    ] = 20
    """0: only what is stored is shown."""
    disputes_per_day_and_chain: Annotated[
        int,
        msgspec.Meta(ge=0, le=10_000),
        Setting("Disputes a day that may be filed on one chain, with and without a key"),
    ] = 100
    """0: none may be filed."""
    analyses_per_hour_and_chain: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting(
            "Analyses an hour of one chain that all callers without a key may cause together; a "
            "twentieth of them within a minute"
        ),
    ] = 600


class SqlSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of SQL for analysts: bounds of one statement."""

    max_rows: Annotated[
        int,
        msgspec.Meta(ge=0),
        Setting("Most rows of a result without `--limit`; 0: no bound"),
    ] = 0
    max_bytes: Annotated[
        int, msgspec.Meta(ge=0), Setting("Longest result of a statement, as JSON; 0: no bound")
    ] = 0
    time_limit_s: Annotated[
        NonNegativeSeconds, Setting("Seconds after which a statement is ended")
    ] = 30.0
    memory_mb: Annotated[
        int,
        msgspec.Meta(ge=100),
        Setting("Memory in MB that the process of a statement may take beyond its first 250"),
    ] = 1_500


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of a deployment, except chain facts."""

    store: Annotated[
        StoreAddress,
        Setting(
            "Prefix of the store's files, with serving state, lake and ledger in the same "
            "folder; or a database, postgresql://..., for all three",
            env=STORE_VARIABLE,
        ),
    ] = FileAddress(Path("assay.duckdb"))
    lake: Annotated[
        str | None,
        Setting(
            "Place of the lake of a store in PostgreSQL: a folder, or s3://bucket/prefix",
            env=LAKE_VARIABLE,
        ),
    ] = None
    """None: the store and its lake are files next to one another. `store` may name a database."""
    host: Annotated[
        str,
        msgspec.Meta(min_length=1),
        Setting("Address the API listens on", env="ASSAY_HOST"),
    ] = "127.0.0.1"
    port: Annotated[
        int,
        msgspec.Meta(ge=0, le=65535),
        Setting("Port the API listens on", env="ASSAY_PORT"),
    ] = 8000
    """0: any free one."""
    drain_s: Annotated[
        int,
        msgspec.Meta(ge=0, le=300),
        Setting(
            "Seconds for which requests are still accepted after SIGTERM, while /ready fails",
            env="ASSAY_DRAIN_S",
        ),
    ] = 0
    overlay: Annotated[
        Path | None,
        Setting(
            "Directory with settings.toml and chains/<slug>.toml that override the built-in ones",
            env="ASSAY_CONFIG",
        ),
    ] = None
    """None: built-in values only."""
    rpc_urls: Annotated[
        dict[int, tuple[str, ...]],
        Setting(
            "Endpoints of that chain, http(s) or ws(s), separated by commas; a chain "
            "without one is not served",
            env="ASSAY_RPC_<chain id>",
        ),
    ]
    """Endpoints by chain id, in the order given. A chain without one is not served."""
    billing_secret: Annotated[
        Secret | None,
        Setting(
            "Secret for issuing trial keys at POST /agent-keys; without it that answers 503",
            env="ASSAY_BILLING_SECRET",
        ),
    ] = None
    """None: trial keys are not issued (503)."""
    signing_key: Annotated[
        Secret | None,
        Setting(
            "Private key, 32 bytes of hex, that signs evidence packs (EIP-712)",
            env="ASSAY_SIGNING_KEY",
        ),
    ] = None
    """None: they are not signed."""
    redis_url: Annotated[
        Secret | None,
        Setting(
            "Redis or Valkey server, redis(s)://..., by which several processes share "
            "rate-limit windows",
            env="ASSAY_REDIS",
        ),
    ] = None
    """None: each process keeps its own rate-limit windows."""
    rpc: RpcSettings
    indexer: IndexerSettings
    analysis: AnalysisSettings
    launch: LaunchSettings
    api: ApiSettings
    public: PublicSettings
    market_data: MarketDataSettings
    sources: SourceSettings
    etherscan_key: Annotated[
        Secret | None,
        Setting(
            "Key for Etherscan's API; without it only Sourcify is queried for sources",
            env="ASSAY_ETHERSCAN_KEY",
        ),
    ] = None
    """None: Etherscan is not queried for sources."""
    oidc: OidcClient | None = None
    """None: nobody can sign in; keys are created with the command line."""
    sign_in: SignInSettings
    sql: SqlSettings
    watches: WatchSettings
    metrics: MetricsSettings
    jobs: JobSettings
    job: Annotated[
        tuple[JobDefinition, ...],
        Setting("Jobs, each as a table `[[job]]`; docs/operate/jobs.md has its keys"),
    ] = ()
    """In the order of the file."""
    metrics_token: Annotated[
        Secret | None,
        Setting(
            "Bearer token that `GET /metrics` at the API's address requires; without it none",
            env="ASSAY_METRICS_TOKEN",
        ),
    ] = None
    """None: GET /metrics needs no token."""

    def __repr__(self) -> str:
        """Return the usual repr, with the endpoints' paths and queries masked."""
        shown = {name: getattr(self, name) for name in self.__struct_fields__}
        shown["rpc_urls"] = {
            chain_id: tuple(map(mask_url, urls)) for chain_id, urls in self.rpc_urls.items()
        }
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
