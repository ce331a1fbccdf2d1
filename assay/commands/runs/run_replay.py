"""Work of `assay replay`: an evidence pack, checked against the user's node."""

import asyncio
import os
import time
from contextlib import AsyncExitStack
from typing import IO, Final

import click
from rich.table import Table

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.replay.evidence_pack import MOST_BYTES, EvidencePack, decode_pack
from analysis.replay.pack_signature import find_signer
from analysis.replay.replay_pack import Replay, check_pack, replay_pack
from assay.commands.runs.static_results import open_static_results
from assay.commands.runs.tables import cell_text, make_console
from config.facts.load_chains import load_chains
from config.load_settings import load_settings
from config.settings import Settings
from core.errors import AssayError, ConfigError
from core.process.terminal import printable
from core.rpc.client import RpcClient

_EXIT_CODES: Final = {"equal": 0, "different": 1, "not_run": 2}

_MOST_ROWS: Final = 100
"""Most rows of one table."""


def run_replay(file: IO[bytes], url: str | None, *, shows_all: bool) -> int:
    """Replay a pack, print the differences, and return the exit code. Prints errors instead of
    raising them."""
    try:
        pack = decode_pack(file.read(MOST_BYTES + 1))
        check_pack(pack)
        signer = find_signer(pack)
        replay = asyncio.run(_replay(load_settings(os.environ), pack, url))
    except AssayError as error:
        click.echo(printable(f"not replayed: {error}"), err=True)
        return _EXIT_CODES["not_run"]
    _print(pack, replay, signer=signer, shows_all=shows_all)
    return _EXIT_CODES[replay.verdict]


async def _replay(settings: Settings, pack: EvidencePack, url: str | None) -> Replay:
    urls = settings.rpc_urls.get(pack.chain_id, ()) if url is None else (url,)
    if not urls:
        key, reason = f"ASSAY_RPC_{pack.chain_id}", "not set, and no --rpc is given"
        raise ConfigError(source="environment", key=key, reason=reason)
    chains = (each for each in load_chains(settings.overlay) if each.id == pack.chain_id)
    chain = next(chains, None)
    async with AsyncExitStack() as stack:
        static_results = await open_static_results(stack)
        client = await RpcClient.connect(urls, pack.chain_id, settings.rpc)
        stack.push_async_callback(client.aclose)
        context = None
        if chain is not None:
            context = ChainContext(
                chain=chain,
                node=client,
                index=NoFactsIndex(),
                settings=pack.given.settings,
                now_s=time.time,
                static_results=static_results,
            )
        return await replay_pack(pack, client, context)


def _print(pack: EvidencePack, replay: Replay, *, signer: str | None, shows_all: bool) -> None:
    out = make_console(soft_wrap=False)
    token = pack.report.token
    signed = "not signed" if signer is None else f"signed by {signer}"
    out.print(
        cell_text(
            f"{token.symbol} {token.address} on chain {pack.chain_id}, block {pack.block.number}; "
            f"made by {pack.made_by}, {signed}"
        )
    )
    shown = replay.calls if shows_all else replay.differing
    if shown:
        table = Table("call", "method", "status", "recorded", "answered")
        for call in shown[:_MOST_ROWS]:
            row = (call.index, call.method, call.status, call.recorded, call.answered)
            table.add_row(*map(cell_text, row))
        out.print(table)
    if replay.differences:
        table = Table("field", "recorded", "derived")
        for each in replay.differences[:_MOST_ROWS]:
            table.add_row(*map(cell_text, (each.field, each.recorded, each.derived)))
        out.print(table)
    if replay.derived is None:
        out.print(cell_text(f"report not derived: {replay.reason}"))
    else:
        count = len(replay.differences)
        out.print(cell_text(f"report derived from the calls: {count} fields differ"))
    equal = len(replay.calls) - len(replay.differing)
    out.print(cell_text(f"{equal} of {len(replay.calls)} calls equal: {replay.verdict}"))
