"""Work of `assay record`: one analysis with its calls."""

import asyncio
import os
import time
from contextlib import AsyncExitStack
from pathlib import Path

import click

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from analysis.replay.evidence_pack import EvidencePack, compress_pack, encode_pack
from analysis.replay.pack_signature import sign_pack
from analysis.replay.record_pack import record_pack
from analysis.token.admission import admit_address
from assay.commands.runs.nodes import asking_nodes_of, connect, find_chain
from assay.commands.runs.progress import progress_steps
from assay.commands.runs.static_results import open_static_results
from config.facts.chain import Chain
from config.load_settings import load_settings
from config.settings import Settings


def run_record(name: str, address: str, file: Path) -> None:
    """Analyse one token and write its pack.

    Raises BadParameter, FileError, ConfigError, UpstreamError, TokenRefusedError,
    EvidencePackError.
    """
    settings = load_settings(os.environ)
    chain = find_chain(settings, name)
    with asking_nodes_of(chain), progress_steps(is_kept=False) as show:
        show("reading the chain, simulating trades", 0, None)
        pack = asyncio.run(_record(settings, chain, address))
    if settings.signing_key is not None:
        pack = sign_pack(pack, settings.signing_key)
    text = encode_pack(pack)
    body = text if file.suffix == ".json" else compress_pack(text)
    try:
        file.write_bytes(body)
    except OSError as error:
        raise click.FileError(str(file), hint=error.strerror) from error
    signed = "not signed" if pack.signature is None else f"signed by {pack.signature.signer}"
    click.echo(
        f"{file}: {len(pack.calls)} calls at block {pack.block.number}, {len(body)} bytes, {signed}"
    )


async def _record(settings: Settings, chain: Chain, address: str) -> EvidencePack:
    token = admit_address(address)
    async with AsyncExitStack() as stack:
        static_results = await open_static_results(stack)
        context = ChainContext(
            chain=chain,
            node=await connect(stack, chain, settings),
            index=NoFactsIndex(),
            settings=settings.analysis,
            now_s=time.time,
            static_results=static_results,
        )
        return await record_pack(context, token)
