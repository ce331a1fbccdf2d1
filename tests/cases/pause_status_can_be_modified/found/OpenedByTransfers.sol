pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// At first only friends receive; the tenth transfer opens it for all.
contract OpenedByTransfers is Ledger {
    mapping(address => bool) internal friends;
    uint256 internal count;
    bool internal early;

    constructor() public {
        early = true;
        friends[msg.sender] = true;
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
        if (early) {
            require(friends[to], "early");
            count++;
            if (count == 10) early = false;
        }
        _move(from, to, amount);
    }
}

// ----
// about: At first only friends receive; the tenth transfer opens it for all.
// expect: transfer_guarded_by_storage
// expect: transfer_from_guarded_by_storage
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: has_blacklist_or_whitelist
