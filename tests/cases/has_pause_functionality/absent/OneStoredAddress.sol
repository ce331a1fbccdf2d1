pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// One stored address, which can be set, is refused.
contract OneStoredAddress is Ledger, Chief {
    address internal banned;

    function ban(address who) public onlyChief {
        banned = who;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(from != banned, "banned");
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
// about: A stored address that a function sets is the only one who may not send; nobody else is stopped.
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_blacklist_or_whitelist
