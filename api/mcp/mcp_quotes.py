"""Quotes and checks for agents: tools that simulate when they are called."""

import base64
from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from mcp.types import BlobResourceContents, CallToolResult, EmbeddedResource

from analysis.replay.evidence_pack import PackFile
from api.auth.limits import KeyLimits
from api.deps import ApiDeps
from api.formats.resources.exit_format import ExitAnswer
from api.formats.resources.hooks_format import HooksAnswer
from api.formats.resources.liquidity_format import LiquidityAnswer
from api.formats.resources.pack_format import PackAnswer, pack_answer
from api.formats.resources.trade_format import TradeAnswer, TradeRequest
from api.mcp.mcp_tool import COUNTS, CalledTool, McpTool, tool_error, tool_result
from api.served_chains import CHAIN_HELP, find_chain
from api.serving.answers import Answers
from api.serving.quote_answers import QuoteAnswer, quoted
from api.serving.quote_service import QuoteService

_OK = 200

_Chain = Annotated[str | int, msgspec.Meta(description=f"{CHAIN_HELP}; list_chains has them")]
_Token = Annotated[str, msgspec.Meta(description="Address of the token contract, 0x...")]


class _Exit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which token, and a size of the caller's own."""

    chain: _Chain
    address: _Token
    usd: Annotated[
        float | None, msgspec.Meta(description="A further size, in USD at the spot price")
    ] = None
    amount: Annotated[
        str | None, msgspec.Meta(description="Or in tokens, as a decimal number, such as 1250.5")
    ] = None


class _OneToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which token."""

    chain: _Chain
    address: _Token


class _Trade(TradeRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which token, and the trade that is about to be signed."""

    chain: _Chain
    address: _Token


class McpQuotes:
    """Tools of exit quotes, of who holds the liquidity, of hooks, of evidence packs, and of checks
    of trades."""

    def __init__(
        self, deps: ApiDeps, answers: Answers, limits: KeyLimits, quotes: QuoteService
    ) -> None:
        self._deps = deps
        self._answers = answers
        self._limits = limits
        self._quotes = quotes

    def tools(self) -> dict[str, McpTool]:
        """Return the tools by name."""
        return {
            "quote_exit": McpTool(
                description="What selling a holding brings now, at 100 to 100,000 USD and a size "
                "of your own, split best over the pools, after tax, fees and price impact; gas; "
                "and what can be sold until half the depth is gone. Each figure was simulated "
                "whole. null is not known, never 0; a quote does not make a token safe. "
                f"{COUNTS}",
                takes=_Exit,
                gives=(ExitAnswer,),
                run=self._exit,
            ),
            "liquidity_holders": McpTool(
                description="Who holds the liquidity of a token's deepest pools: what is burnt, "
                "locked and until when, withdrawable now and by whom, held by contracts nobody "
                "knows, and unaccounted; and what a sale brings once the largest who can withdraw "
                "has done so, simulated. unknown and unaccounted are never locked. "
                f"{COUNTS}",
                takes=_OneToken,
                gives=(LiquidityAnswer,),
                run=self._liquidity,
            ),
            "hook_dossier": McpTool(
                description="Of a token's deepest pools of Uniswap V4 and PancakeSwap Infinity "
                "with a hook: what the hook may do, whether its code can be replaced, who controls "
                "it, what buys and sales cost by size and time, and whether liquidity can leave, "
                "simulated. null and unknown are never no, and no hook is called safe. "
                f"{COUNTS}",
                takes=_OneToken,
                gives=(HooksAnswer,),
                run=self._hooks,
            ),
            "evidence_pack": McpTool(
                description="A file that lets anybody check an analysis of one token on a node of "
                "their own, with `assay replay`: the report, made now, and every node call behind "
                "it; signed where this service has a key. The file is an embedded resource beside "
                "the result, about 30 KB. It proves what the report follows from, and does not "
                f"make a token safe. {COUNTS}",
                takes=_OneToken,
                gives=(PackAnswer,),
                run=self._pack,
            ),
            "check_trade": McpTool(
                description="What one trade would do to its sender, before it is signed: the very "
                "call simulated, with what arrives, what else leaves, allowances left open, the "
                "tax, and the stored verdict. `passed` speaks of this call at this block and is "
                f"not `safe`; read `warnings`. Nothing is sent. {COUNTS}",
                takes=_Trade,
                gives=(TradeAnswer,),
                run=self._trade,
            ),
        }

    async def _exit(self, called: CalledTool) -> CallToolResult:
        asked: _Exit = called.arguments
        chain = await self._admit(called)

        async def ask() -> ExitAnswer:
            return await self._quotes.exit(
                chain=chain, address=asked.address, usd=asked.usd, amount=asked.amount
            )

        return await self._quoted(ask, chain, asked.address)

    async def _liquidity(self, called: CalledTool) -> CallToolResult:
        asked: _OneToken = called.arguments
        chain = await self._admit(called)

        async def ask() -> LiquidityAnswer:
            return await self._quotes.liquidity(chain=chain, address=asked.address)

        return await self._quoted(ask, chain, asked.address)

    async def _hooks(self, called: CalledTool) -> CallToolResult:
        asked: _OneToken = called.arguments
        chain = await self._admit(called)

        async def ask() -> HooksAnswer:
            return await self._quotes.hooks(chain=chain, address=asked.address)

        return await self._quoted(ask, chain, asked.address)

    async def _pack(self, called: CalledTool) -> CallToolResult:
        asked: _OneToken = called.arguments
        chain = await self._admit(called)
        files: list[PackFile] = []

        async def ask() -> PackAnswer:
            file = await self._quotes.evidence_pack(chain=chain, address=asked.address)
            files.append(file)
            return pack_answer(file, chain=chain, address=asked.address)

        result = await self._quoted(ask, chain, asked.address)
        result.content.extend(_embedded(chain, asked.address, file) for file in files)
        return result

    async def _trade(self, called: CalledTool) -> CallToolResult:
        asked: _Trade = called.arguments
        chain = await self._admit(called)

        async def ask() -> TradeAnswer:
            return await self._quotes.trade(chain=chain, address=asked.address, asked=asked)

        return await self._quoted(ask, chain, asked.address)

    async def _admit(self, called: CalledTool) -> str:
        """Return the slug of the chain, and count the call."""
        chain = find_chain(self._deps, str(called.arguments.chain), asked_in="arguments")
        await self._limits.admit(called.caller)
        return chain

    async def _quoted(
        self,
        ask: Callable[[], Awaitable[QuoteAnswer]],
        chain: str,
        address: str,
    ) -> CallToolResult:
        answer = await quoted(ask, chain=self._answers.chain(chain), address=address)
        return tool_result(answer.body) if answer.status == _OK else tool_error(answer.body)


def _embedded(chain: str, address: str, file: PackFile) -> EmbeddedResource:
    """Return the file as a resource, which a host can keep from the model's context."""
    uri = f"assay://packs/{chain}/{address.lower()}/{file.block.number}"
    blob = base64.b64encode(file.body).decode()
    contents = BlobResourceContents(uri=uri, mime_type="application/zstd", blob=blob)
    return EmbeddedResource(resource=contents)
