"""The official MCP client, connected to the application."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.harness.api.sample_reports import TOKEN

ONE = {"chain": "ethereum", "address": TOKEN}
MODES = ("legacy", "auto")  # both ways of beginning: the handshake, and since 2026 none


@asynccontextmanager
async def agent(base: str, headers: dict[str, str], mode: str = "auto") -> AsyncIterator[Client]:
    """A connected client."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> tuple[bool, Any]:
    """Return the error flag and the JSON of the text, which a result has structured too.

    The client itself validates structured content against the schema of the tool.
    """
    result = await client.call_tool(tool, arguments)
    content = result.content[0]
    assert content.type == "text"
    decoded = json.loads(content.text)
    assert result.structured_content == (None if result.is_error else decoded)
    return result.is_error, decoded
