pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The recipient's balance is looked at after it was credited.
contract PositionAfter is Ledger {
    uint256 internal mostHeld;

    constructor(uint256 value) public {
        mostHeld = value;
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
        _move(from, to, amount);
        require(balanceOf(to) <= mostHeld, "too much for one");
    }
}

// ----
// about: The recipient's balance is looked at after it was credited.
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
