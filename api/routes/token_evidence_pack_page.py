"""/t/{chain}/{address}/evidence-pack: the evidence pack of a token for people without a key."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.formats.prose.headline import refusal_headline
from api.formats.resources.pack_format import pack_name
from api.pages.page_rendering import GUARDED, page
from api.routes.page_admission import MOST_ADDRESS_CHARS, admit_quote
from api.routes.token import chain_of, require_chain, respond
from api.serving.packing import pack_file
from core.errors import AssayError, TokenRefusedError

_OUR_FAULT = "the pack could not be made, which is our fault; try again later"


@get("/t/{chain:str}/{address:str}/evidence-pack", guards=[require_chain], include_in_schema=False)
async def send_pack(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[Any]:
    """The file, of an analysis made now and counted as one; or a page that says why there is
    none."""
    slug = chain_of(request)
    await admit_quote(request, slug)
    try:
        file = await request.app.state.quotes.evidence_pack(chain=slug, address=address)
    except TokenRefusedError as error:
        return _refused(request, address, error.reason, error.status)
    except (AssayError, TimeoutError):
        return _refused(request, address, _OUR_FAULT, 500)
    response = respond(pack_file(file.body, name=pack_name(slug, address)))
    response.headers.update(GUARDED)
    return response


def _refused(
    request: Request[Any, Any, Any], address: str, reason: str, status: int
) -> Response[str]:
    return page(
        "refused.html",
        status=status,
        chain=request.app.state.answers.chain(chain_of(request)),
        address=address[:MOST_ADDRESS_CHARS],
        headline=refusal_headline(reason),
        visitor=None,
    )
