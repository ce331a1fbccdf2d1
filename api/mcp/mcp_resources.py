"""MCP tools of the token sub-resources, built from their table."""

import base64
from functools import partial

import msgspec
from mcp.types import BlobResourceContents, CallToolResult, EmbeddedResource

from analysis.replay.evidence_pack import PackFile
from api.auth.limits import KeyLimits
from api.deps import ApiDeps
from api.formats.resources.pack_format import pack_answer
from api.mcp.mcp_tool import COUNTS, CalledTool, McpTool, tool_error, tool_result
from api.resources.token_resource import TokenCall, TokenResource, run_resource
from api.resources.token_resources import TOKEN_RESOURCES
from api.served_chains import find_chain
from api.serving.answers import Answers
from api.serving.cached_answer import CachedAnswer


class McpResources:
    """One tool for each token sub-resource."""

    def __init__(self, deps: ApiDeps, answers: Answers, limits: KeyLimits) -> None:
        self._deps = deps
        self._answers = answers
        self._limits = limits

    def tools(self) -> dict[str, McpTool]:
        """Return the tools by name, those that cost no simulation first."""
        cheapest_first = sorted(TOKEN_RESOURCES, key=lambda resource: resource.is_simulated)
        return {
            resource.tool.name: McpTool(
                description=f"{resource.tool.description} {COUNTS}",
                takes=resource.tool.takes,
                gives=(resource.answer,),
                run=partial(self._run, resource),
            )
            for resource in cheapest_first
        }

    async def _run(self, resource: TokenResource, called: CalledTool) -> CallToolResult:
        """Check in the order of the HTTP route: chain, limits, address."""
        given = called.arguments
        chain = find_chain(self._deps, str(given.chain), place="arguments")
        await self._limits.admit(called.caller)
        call = TokenCall(
            deps=self._deps,
            answers=self._answers,
            chain=chain,
            address=given.address,
            place="arguments",
        )
        arguments = (
            {"data": given}
            if resource.takes_body
            else {each.name: getattr(given, each.name) for each in resource.parameters}
        )
        found = await run_resource(resource, call, arguments)
        if isinstance(found, CachedAnswer):
            return tool_error(found.body)
        if isinstance(found, PackFile):
            answer = pack_answer(found, chain=chain, address=given.address)
            result = tool_result(msgspec.json.encode(answer))
            result.content.append(_embedded(chain, given.address, found))
            return result
        return tool_result(msgspec.json.encode(found))


def _embedded(chain: str, address: str, file: PackFile) -> EmbeddedResource:
    """Return the file as a resource, which a host can keep from the model's context."""
    uri = f"assay://packs/{chain}/{address.lower()}/{file.block.number}"
    blob = base64.b64encode(file.body).decode()
    contents = BlobResourceContents(uri=uri, mime_type="application/zstd", blob=blob)
    return EmbeddedResource(resource=contents)
