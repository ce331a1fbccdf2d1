pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// What is free is kept apart from the balance.
contract FreeAmountKept is Ledger, Chief {
    mapping(address => uint256) internal frozen;

    function freeze(address who, uint256 amount) public onlyChief {
        frozen[who] += amount;
    }

    function free(address who) public view returns (uint256) {
        return held[who] - frozen[who];
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 rest = free(from);
        require(rest >= amount, "frozen");
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
// about: How much an address may send is kept per address and lowered by each transfer.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
