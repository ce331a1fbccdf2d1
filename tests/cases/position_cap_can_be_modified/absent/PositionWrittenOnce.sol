pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A stored largest balance without a writer.
contract PositionWrittenOnce is Ledger {
    uint256 internal mostHeld = 2e22;

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
        require(held[to] + amount <= mostHeld, "too much for one");
        _move(from, to, amount);
    }
}

// ----
// about: A stored largest balance without a writer.
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
