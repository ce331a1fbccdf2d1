"""Kin of a token, read from the store. Nothing is analysed, and no node is asked."""

import asyncio

from api.deps import ApiDeps
from api.error_answers import InvalidInputError, InvalidItem, StoreDownError
from api.formats.resources.kin_format import KinAnswer, kin_answer
from api.serving.answers import Answers
from core.errors import InvalidAddressError, StoreError
from core.evm.primitives import Address, checksum, parse_address
from sql.tokens.kin import find_kin

NO_ADDRESS = "0x and 40 hex digits."


async def read_kin(
    deps: ApiDeps, answers: Answers, *, chain: str, address: str, asked_in: str
) -> KinAnswer:
    """Return the kin of a token of a chain, by its slug.

    `asked_in`: where the address is told, for the error. Raises InvalidInputError, StoreDownError.
    """
    token = _parsed(address, asked_in)
    if deps.store is None:
        raise StoreDownError
    try:
        found = await asyncio.to_thread(
            find_kin, deps.store, chain_id=answers.chain(chain).id, address=token
        )
    except StoreError as error:
        raise StoreDownError from error
    return kin_answer(chain=chain, address=checksum(token), found=found)


def _parsed(text: str, asked_in: str) -> Address:
    try:
        return parse_address(text)
    except InvalidAddressError as error:
        item = InvalidItem(loc=(asked_in, "address"), msg=NO_ADDRESS, type="value_error")
        raise InvalidInputError(item) from error
