pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The list is an array that transfers walk through.
contract ArrayOfBots is Ledger, Chief {
    address[] internal bots;

    function add(address who) public onlyChief {
        bots.push(who);
    }

    function _pass(address from, address to, uint256 amount) internal {
        for (uint256 i = 0; i < bots.length; i++) {
            require(bots[i] != from, "bot");
        }
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
// about: Senders found in a stored array are refused.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
