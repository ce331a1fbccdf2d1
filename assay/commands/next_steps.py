"""What to do about an error of a command, with an example to copy."""

from core.errors import (
    AssayError,
    ConfigError,
    MissingExtraError,
    QueryError,
    RefusalCode,
    StoreError,
    TokenRefusedError,
    UpstreamError,
    WrongChainError,
)

_NODE = "https://your-node.example"

_ASK_NODE = "see whether the node answers, and what it can do: assay doctor {chain_id}"

_MAKE_STORE = (
    "name the store, or make one: export ASSAY_STORE=/path/to/assay.duckdb; assay index eth"
)

_ANOTHER_PORT = "end what listens there, or choose another port: assay serve --port 8001"

_WITH_EXTRA = (
    "as a tool: uvx --from 'assay[{extra}]' assay ..., or pipx install --force 'assay[{extra}]'"
)

_SMALLER_RESULT = (
    'ask for less: assay sql "select * from v_pools limit 5"; or raise the bound in settings.toml '
    "under [sql]"
)

_OF_REFUSALS: dict[RefusalCode, str] = {
    "invalid_address": "an address is 0x and 40 hex digits: assay scan eth 0x6B17...1d0F",
    "burn_address": "name the token's contract: assay scan eth 0x6B17...1d0F",
    "not_a_contract": "see whether it is on another chain: assay scan base 0x6B17...1d0F",
    "not_a_token": "name the token's contract, not that of a pool or wallet: assay scan eth "
    "0x6B17...1d0F",
}


def next_step(error: AssayError) -> str | None:
    """Return what the person at the terminal can do about it. None: nothing but read the error."""
    step: str | None = None
    match error:
        case TokenRefusedError(code=code):
            step = _OF_REFUSALS.get(code)
        case QueryError(limit=limit) if limit is not None:
            step = _SMALLER_RESULT
        case WrongChainError(got=got):
            step = f"name the node by the chain it serves: export ASSAY_RPC_{got}={_NODE}"
        case UpstreamError(chain_id=chain_id) if chain_id is not None:
            step = _ASK_NODE.format(chain_id=chain_id)
        case ConfigError(source="listen address"):
            step = _ANOTHER_PORT
        case ConfigError(key=key) if key.startswith("ASSAY_RPC_"):
            number = key.removeprefix("ASSAY_RPC_")
            step = f"export ASSAY_RPC_{number if number.isdecimal() else 1}={_NODE}"
        case MissingExtraError(extra=extra):
            step = _WITH_EXTRA.format(extra=extra)
        case StoreError(reason=reason) if reason.startswith("there is no such"):
            step = _MAKE_STORE
    return step
