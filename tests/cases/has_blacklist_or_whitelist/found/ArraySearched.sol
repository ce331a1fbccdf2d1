pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The list is an array that a function searches.
contract ArraySearched is Ledger, Chief {
    address[] internal bots;

    function add(address who) public onlyChief {
        bots.push(who);
    }

    function _isBot(address who) internal view returns (bool) {
        for (uint256 i = 0; i < bots.length; i++) {
            if (bots[i] == who) {
                return true;
            }
        }
        return false;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(!_isBot(from) && !_isBot(to), "bot");
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
// about: A function looks for both parties in a stored array.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
