pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A commitment of the caller is revealed by nobody else.
contract HashOfTheCaller is Ledger {
    mapping(bytes32 => bool) internal seen;

    function commit(uint256 secret) public {
        bytes32 hash = keccak256(abi.encodePacked(msg.sender, secret));
        require(!seen[hash], "seen");
        seen[hash] = true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
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
}

// ----
// about: What the caller has committed to is looked up by a hash of the caller.
