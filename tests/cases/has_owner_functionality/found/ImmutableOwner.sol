pragma solidity >=0.7.0;

import "../../base/Ledger.sol";

/// The privileged address is an immutable.
contract ImmutableOwner is Ledger {
    address internal immutable boss;
    uint256 public note;

    constructor() {
        boss = msg.sender;
    }

    function setNote(uint256 value) public {
        require(msg.sender == boss, "no");
        note = value;
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
    }
}

// ----
// about: The privileged address is an immutable.
// expect: has_owner_functionality
