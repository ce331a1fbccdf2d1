"""Logs of watched tokens that are neither transfers nor approvals. Pure."""

from collections.abc import Iterator
from typing import Final

from core.evm.event_signatures import parse_event
from core.evm.primitives import Hash32
from core.report.notifications import ObservationKind
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import LogColumns, LogGroup
from indexer.watched.seen import Seen
from indexer.watched.watched_set import WatchedSet

_OWNERSHIP: Final = (
    "OwnershipTransferred(address indexed previous,address indexed next)",
    "OwnershipTransferStarted(address indexed previous,address indexed next)",
    "RoleGranted(bytes32 indexed role,address indexed account,address indexed sender)",
    "RoleRevoked(bytes32 indexed role,address indexed account,address indexed sender)",
    "RoleAdminChanged(bytes32 indexed role,bytes32 indexed before,bytes32 indexed next)",
    "AdminChanged(address previous,address next)",
    "Upgraded(address indexed implementation)",
    "BeaconUpgraded(address indexed beacon)",
)
"""Sources: OpenZeppelin Contracts, Ownable, Ownable2Step, AccessControl; ERC-1967."""

_NAMED: Final = ("Paused(address account)", "Unpaused(address account)")
"""Source: OpenZeppelin Contracts, Pausable."""

_OF_HOLDERS: Final = (
    "Transfer(address indexed from,address indexed to,uint256 value)",
    "Approval(address indexed owner,address indexed spender,uint256 value)",
    "ApprovalForAll(address indexed owner,address indexed operator,bool approved)",
    "Deposit(address indexed to,uint256 value)",
    "Withdrawal(address indexed from,uint256 value)",
)
"""Events of holders' actions. Sources: EIP-20, EIP-721, WETH9."""

_MOST_DETAIL: Final = 1_024
"""Characters kept of a log's arguments."""


def _topic(declared: str) -> bytes:
    return bytes.fromhex(parse_event(declared).topic0[2:])


_IGNORED: Final = frozenset(_topic(declared) for declared in _OF_HOLDERS)
_NAMES: Final[dict[bytes, tuple[ObservationKind, str]]] = {
    **{_topic(each): ("ownership_event", each.partition("(")[0]) for each in _OWNERSHIP},
    **{_topic(each): ("parameter_event", each.partition("(")[0]) for each in _NAMED},
}


def find_events(logs: LogColumns, watched: WatchedSet) -> Iterator[Seen]:
    """Yield the logs of watched tokens that may announce a change other than of a balance.

    An unknown event is named by its topic 0, one without topics `anonymous`.
    """
    for group in logs.groups:
        if group.shape.topic0 in _IGNORED:
            continue
        for row, emitter in enumerate(keys_of(group.address)):
            token = watched.tokens.get(emitter)
            if token is not None:
                kind, name = _named(group)
                yield Seen(
                    block_number=int(group.block_number[row]),
                    token_id=token.token_id,
                    kind=kind,
                    tx_hash=Hash32("0x" + group.tx_hash[row].tobytes().hex()),
                    what=name,
                    detail=_arguments(group, row),
                )


def _named(group: LogGroup) -> tuple[ObservationKind, str]:
    topic0 = group.shape.topic0
    unnamed = "0x" + topic0.hex() if topic0 else "anonymous"
    return _NAMES.get(topic0, ("parameter_event", unnamed))


def _arguments(group: LogGroup, row: int) -> str:
    """Return the arguments as 0x and hex, indexed ones first."""
    words: bytes = group.topics[row].tobytes() + group.data[row].tobytes()
    return ("0x" + words.hex())[:_MOST_DETAIL]
