"""Changes of a lying node to calls and answers, one lie per function."""

from typing import Any

from core.evm.abi import selector_of
from tests.harness.node.forward import Ask, Twist
from tests.harness.replay.answers import RpcCall, RpcRefusalError

HOUR_S = 3_600
STALE_BLOCKS = 12
"""Distance of a stale head to the real one."""
CUT_BLOCKS = 10
"""Blocks after which ranges of logs are cut."""
_MOST_GAS = 10_000_000
_HEADERS = frozenset({"eth_getBlockByNumber", "eth_getBlockByHash"})


def _with(call: RpcCall, *params: Any) -> RpcCall:
    return RpcCall(method=call.method, params=list(params), id=call.id)


def _is_call_of(call: RpcCall, signature: str) -> bool:
    return call.method == "eth_call" and str(call.params[0].get("data", "")).startswith(
        selector_of(signature)
    )


def _word(number: int) -> str:
    return "0x" + number.to_bytes(32).hex()


def other_chain(call: RpcCall, ask: Ask) -> Any:
    return hex(1_234_567) if call.method == "eth_chainId" else ask(call)


def drops_logs(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    return found[1:] if call.method == "eth_getLogs" else found


def drops_logs_everywhere(call: RpcCall, ask: Ask) -> Any:
    """Drop logs from receipts as well, so that only the bloom filter shows them."""
    if call.method != "eth_getBlockReceipts":
        return drops_logs(call, ask)
    receipts = ask(call) or []
    for receipt in receipts:
        receipt["logs"] = receipt["logs"][1:]
    return receipts


def ignores_overrides(call: RpcCall, ask: Ask) -> Any:
    return ask(_with(call, *call.params[:2]) if call.method == "eth_call" else call)


def without_fields(*fields: str) -> Twist:
    def twist(call: RpcCall, ask: Ask) -> Any:
        if call.method == "eth_simulateV1":
            for block in call.params[0]["blockStateCalls"]:
                for field in fields:
                    block.get("blockOverrides", {}).pop(field, None)
        return ask(call)

    return twist


def never_validates(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_simulateV1":
        call.params[0]["validation"] = False
    return ask(call)


def forgets_between_blocks(call: RpcCall, ask: Ask) -> Any:
    """Each simulated block is run on the same state."""
    if call.method != "eth_simulateV1" or len(call.params[0]["blockStateCalls"]) == 1:
        return ask(call)
    first, *later = call.params[0]["blockStateCalls"]
    results = []
    for block in (first, *later):
        alone = {**block, "stateOverrides": first.get("stateOverrides", {})}
        results += ask(_with(call, {**call.params[0], "blockStateCalls": [alone]}, call.params[1]))
    return results


def limits_gas(call: RpcCall, ask: Ask) -> Any:
    gas = int(call.params[0].get("gas", "0x0"), 16) if call.method == "eth_call" else 0
    if gas > _MOST_GAS:
        raise RpcRefusalError(-32000, f"gas limit {gas} is above the cap {_MOST_GAS}")
    return ask(call)


def any_hash(call: RpcCall, ask: Ask) -> Any:
    """A hash of no block is answered with the newest."""
    found = ask(call)
    if call.method == "eth_getBlockByHash" and found is None:
        return ask(RpcCall("eth_getBlockByNumber", ["latest", False]))
    return found


def other_factory(call: RpcCall, ask: Ask) -> Any:
    return _word(0xFAC) if _is_call_of(call, "factory()") else ask(call)


def no_deposits(call: RpcCall, ask: Ask) -> Any:
    """The coin's contract takes money, and gives no tokens for it."""
    if call.method == "eth_simulateV1":
        for block in call.params[0]["blockStateCalls"]:
            for one in block["calls"]:
                one.pop("value", None)
    return ask(call)


def stale_head(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_getBlockByNumber" and call.params[0] == "latest":
        head = int(ask(RpcCall("eth_blockNumber")), 16)
        return ask(_with(call, hex(head - STALE_BLOCKS), call.params[1]))
    return ask(call)


def old_as_latest(call: RpcCall, ask: Ask) -> Any:
    """State at any height is that of the newest block."""
    if call.method in ("eth_call", "eth_getCode", "eth_getBalance", "eth_getTransactionCount"):
        block, *overrides = call.params[1:]
        return ask(
            _with(call, call.params[0], "latest" if isinstance(block, str) else block, *overrides)
        )
    return ask(call)


def old_accounts_as_latest(call: RpcCall, ask: Ask) -> Any:
    """The block of a call is right, and its state is that of the newest."""
    if call.method == "eth_getTransactionCount":
        return ask(_with(call, call.params[0], "latest"))
    return ask(call)


def ignores_hashes(call: RpcCall, ask: Ask) -> Any:
    """Read blocks given by hash as the newest."""
    params = [
        "latest" if isinstance(one, dict) and "blockHash" in one else one for one in call.params
    ]
    is_state = call.method in ("eth_call", "eth_getCode", "eth_getStorageAt")
    return ask(_with(call, *params) if is_state else call)


def cuts_ranges(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_getLogs" and "fromBlock" in call.params[0]:
        where = dict(call.params[0])
        first, last = int(where["fromBlock"], 16), int(where["toBlock"], 16)
        where["toBlock"] = hex(min(last, first + CUT_BLOCKS - 1))
        return ask(_with(call, where))
    return ask(call)


def other_decimals(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    return _word(9) if _is_call_of(call, "decimals()") and found == _word(6) else found


def no_code_at_factories(call: RpcCall, ask: Ask) -> Any:
    """Hide the code of contracts other than tokens and feeds, by its length."""
    found = ask(call)
    return "0x" if call.method == "eth_getCode" and len(found) > 20_000 else found


def other_pools(call: RpcCall, ask: Ask) -> Any:
    """Have a factory name a foreign pool."""
    if _is_call_of(call, "getPair(address,address)"):
        return "0x" + "00" * 12 + str(call.params[0]["data"])[-40:]
    return ask(call)


def stale_oracle(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    if not _is_call_of(call, "latestRoundData()"):
        return found
    words = [found[2 + at : 66 + at] for at in range(0, len(found) - 2, 64)]
    words[3] = (int(words[3], 16) - 24 * HOUR_S).to_bytes(32).hex()
    return "0x" + "".join(words)


def clock_ahead(call: RpcCall, ask: Ask) -> Any:
    found = ask(call)
    if call.method in _HEADERS and found:
        found["timestamp"] = hex(int(found["timestamp"], 16) + HOUR_S)
    return found


def no_simulation_at_all(call: RpcCall, ask: Ask) -> Any:
    if call.method == "debug_traceCall":
        raise RpcRefusalError(-32601, "the method debug_traceCall does not exist")
    return no_simulation(call, ask)


def no_simulation(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_simulateV1":
        raise RpcRefusalError(-32601, "the method eth_simulateV1 does not exist/is not available")
    return ask(call)


def wants_addresses(call: RpcCall, ask: Ask) -> Any:
    if call.method == "eth_getLogs" and "address" not in call.params[0]:
        raise RpcRefusalError(-32602, "please specify an address in your request")
    return ask(call)


def receipts_of_the_parent(call: RpcCall, ask: Ask) -> Any:
    """As of a cache that is a block behind."""
    if call.method != "eth_getBlockReceipts":
        return ask(call)
    block = ask(RpcCall("eth_getBlockByNumber", ["0x1", False]))
    return ask(_with(call, block["hash"]))
