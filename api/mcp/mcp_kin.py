"""Kin of a token for agents: a tool that reads what is stored."""

from typing import Annotated

import msgspec
from mcp.types import CallToolResult

from api.auth.limits import KeyLimits
from api.deps import ApiDeps
from api.formats.resources.kin_format import KinAnswer
from api.mcp.mcp_tool import COUNTS, CalledTool, McpTool, tool_result
from api.served_chains import CHAIN_HELP, find_chain
from api.serving.answers import Answers
from api.serving.kin_service import read_kin


class _KinOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which token."""

    chain: Annotated[str | int, msgspec.Meta(description=f"{CHAIN_HELP}; list_chains has them")]
    address: Annotated[str, msgspec.Meta(description="Address of the token contract, 0x...")]


class McpKin:
    """The tool of kin."""

    def __init__(self, deps: ApiDeps, answers: Answers, limits: KeyLimits) -> None:
        self._deps = deps
        self._answers = answers
        self._limits = limits

    def tools(self) -> dict[str, McpTool]:
        """Return the tool by its name."""
        return {
            "token_kin": McpTool(
                description="Analysed tokens of the same chain that have the same or similar code, "
                "the same creator, the same funder of the creator, or a look-alike name, and how "
                "those ended: verdict, sale, liquidity. Read from what is stored. Kin are no "
                "verdict: an exchange funds many, and honest tokens share code with traps. null is "
                f"not known, never none. {COUNTS}",
                takes=_KinOf,
                gives=(KinAnswer,),
                run=self._kin,
            )
        }

    async def _kin(self, called: CalledTool) -> CallToolResult:
        asked: _KinOf = called.arguments
        chain = find_chain(self._deps, str(asked.chain), asked_in="arguments")
        await self._limits.admit(called.caller)
        answer = await read_kin(
            self._deps, self._answers, chain=chain, address=asked.address, asked_in="arguments"
        )
        return tool_result(msgspec.json.encode(answer))
