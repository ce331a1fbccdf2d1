"""A tool of the Model Context Protocol, and the forms of its results."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from mcp.types import CallToolResult, TextContent

from api.auth.keys import Caller

COUNTS = "Counts as one call against the limits of the key."
FREE = "Does not count as a call."


class NoArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No arguments."""


class CalledTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call."""

    caller: Caller
    arguments: Any
    """Arguments, of the type that the tool takes."""


class McpTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool."""

    description: str
    takes: type[msgspec.Struct]
    gives: tuple[Any, ...]
    """Types of the structured content, one of them."""
    run: Callable[[CalledTool], Awaitable[CallToolResult]]
    is_read_only: bool = True
    is_destructive: bool = False


def tool_result(body: bytes, *notes: str) -> CallToolResult:
    """Return the body both structured and as text, which some clients read only."""
    texts = [body.decode(), *notes]
    return CallToolResult(
        content=[TextContent(text=text) for text in texts],
        structured_content=msgspec.json.decode(body),
    )


def tool_error(body: bytes) -> CallToolResult:
    """Return a refusal or failure as the result of a tool."""
    return CallToolResult(content=[TextContent(text=body.decode())], is_error=True)
