"""The chain of a command, and a client of its nodes."""

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager

import click

from config.facts.chain import Chain
from config.facts.chain_names import find_by_name, list_names
from config.facts.load_chains import load_chains
from config.settings import Settings
from core.errors import ConfigError, UpstreamError
from core.rpc.client import RpcClient


def choose_chain(chains: Sequence[Chain], name: str) -> Chain:
    """Find a chain by slug, number or alias. Raises BadParameter for an unknown name."""
    chain = find_by_name(chains, name)
    if chain is None:
        reason = f"{name} is not a supported chain. Supported are {list_names(chains)}"
        raise click.BadParameter(reason, param_hint="CHAIN")
    return chain


def find_chain(settings: Settings, name: str) -> Chain:
    """Find a chain with a node by name. Raises BadParameter for an unknown name, ConfigError
    without a node."""
    chain = choose_chain(load_chains(settings.overlay), name)
    if chain.id not in settings.rpc_urls:
        key, reason = f"ASSAY_RPC_{chain.id}", f"not set, and {chain.display_name} needs a node"
        raise ConfigError(source="environment", key=key, reason=reason)
    return chain


@contextmanager
def asking_nodes_of(chain: Chain) -> Iterator[None]:
    """Add the chain's id to errors of its nodes."""
    try:
        yield
    except UpstreamError as error:
        error.chain_id = chain.id
        raise


async def connect(stack: AsyncExitStack, chain: Chain, settings: Settings) -> RpcClient:
    """Connect to the chain's nodes until the stack is closed. Raises UpstreamError, ConfigError."""
    client = await RpcClient.connect(settings.rpc_urls[chain.id], chain.id, settings.rpc)
    stack.push_async_callback(client.aclose)
    return client
