pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The privileged address is written in the code.
contract ConstantOwner is Ledger {
    uint256 public note;

    function setNote(uint256 value) public {
        require(msg.sender == address(0xb0B0000000000000000000000000000000000B0B), "no");
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
// about: The privileged address is written in the code.
// expect: has_owner_functionality
