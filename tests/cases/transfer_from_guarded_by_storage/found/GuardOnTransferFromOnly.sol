pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Only transferFrom asks a list; transfer goes on.
contract GuardOnTransferFromOnly is Ledger, Chief {
    mapping(address => bool) internal banned;

    function ban(address who) public onlyChief {
        banned[who] = true;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        require(!banned[from], "banned");
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: Only transferFrom asks a list; transfer goes on.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
