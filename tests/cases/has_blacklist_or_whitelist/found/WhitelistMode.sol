pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A switch turns the white list on.
contract WhitelistMode is Ledger, Chief {
    bool internal restricted;
    mapping(address => bool) internal allowed;

    function setRestricted(bool value) public onlyChief {
        restricted = value;
    }

    function allow(address who, bool value) public onlyChief {
        allowed[who] = value;
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
        if (restricted) {
            require(allowed[to], "not allowed");
        }
        _move(from, to, amount);
    }
}

// ----
// about: A switch turns the white list on.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
