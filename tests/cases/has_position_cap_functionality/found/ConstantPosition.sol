pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Nobody may end up with more than a constant amount.
contract ConstantPosition is Ledger {
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
        require(held[to] + amount <= 2e22, "too much for one");
        _move(from, to, amount);
    }
}

// ----
// about: Nobody may end up with more than a constant amount.
// expect: has_position_cap
// expect: has_position_cap_functionality
// unsure: transfer_from_guarded_by_storage
// unsure: transfer_guarded_by_storage
