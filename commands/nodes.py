"""The chain that a command is about, and a client of its nodes."""

from contextlib import AsyncExitStack

import click

from config.chains import Chain
from config.load import load_chains
from config.settings_model import Settings
from core.errors import ConfigError
from core.rpc.client import RpcClient


def find_chain(settings: Settings, name: str) -> Chain:
    """A served chain by slug or id. Raises BadParameter for a name of none, ConfigError without
    a node."""
    chains = {
        key: chain for chain in load_chains(settings.overlay) for key in (chain.slug, str(chain.id))
    }
    if name not in chains:
        raise click.BadParameter(f"{name} is none of {', '.join(chains)}", param_hint="CHAIN")  # noqa: TRY003
    chain = chains[name]
    if chain.id not in settings.rpc_urls:
        raise ConfigError(source="environment", key=f"ASSAY_RPC_{chain.id}", reason="not set")
    return chain


async def connect(stack: AsyncExitStack, chain: Chain, settings: Settings) -> RpcClient:
    """A client of the chain's nodes, closed with the stack. Raises UpstreamError, ConfigError."""
    client = await RpcClient.connect(settings.rpc_urls[chain.id], chain.id, settings.rpc)
    stack.push_async_callback(client.aclose)
    return client
