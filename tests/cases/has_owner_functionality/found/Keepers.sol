pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A mapping of privileged addresses gates a function.
contract Keepers is Ledger {
    mapping(address => bool) internal keepers;
    uint256 public note;

    constructor() public {
        keepers[msg.sender] = true;
    }

    function setNote(uint256 value) public {
        require(keepers[msg.sender], "no");
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
// about: A mapping of privileged addresses gates a function.
// expect: has_owner_functionality
