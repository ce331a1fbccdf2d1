pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Loops, hashes and other calls of its own, and nothing is stored.
contract GettersOnly is Ledger {
    address[] internal keepers;

    function owner() public view returns (address) {
        for (uint256 i = 0; i < keepers.length; i++) {
            if (held[keepers[i]] != 0) return keepers[i];
        }
        return address(0);
    }

    function getOwners() public returns (uint256) {
        keepers.push(msg.sender);
        return keepers.length;
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
// about: Loops, hashes and other calls of its own, and nothing is stored.
