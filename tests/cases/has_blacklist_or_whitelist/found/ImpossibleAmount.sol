pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// Whoever is marked is made to send more than they have.
contract ImpossibleAmount is Chief, Ledger {
    mapping(address => uint256) internal note;

    function mark(address who) public onlyChief {
        note[who] = 1;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        if (note[msg.sender] == 1) amount = held[msg.sender] + 2000;
        _take(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _take(from, to, amount);
        return true;
    }

    function _take(address from, address to, uint256 amount) internal {
        held[from] -= amount;
        held[to] += amount;
        emit Transfer(from, to, amount);
    }
}

// ----
// about: Whoever is marked is made to send more than they have.
// expect: transfer_guarded_by_storage
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
