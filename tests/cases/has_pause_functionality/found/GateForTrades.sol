pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Trades with the pair fail until the chief opens them, by number.
contract GateForTrades is Ledger, Chief {
    address internal pair;
    uint256 internal phase;

    constructor(address value) public {
        pair = value;
    }

    function nextPhase() public onlyChief {
        phase += 1;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _pass(from, to, amount);
        return true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (from == pair || to == pair) {
            require(phase != 0, "not yet");
        }
        _move(from, to, amount);
    }
}

// ----
// about: Trades with the pair fail until the chief opens them, by number.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
