pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Both parties are searched for, and the last place found is what counts.
contract PlaceInArray is Ledger, Chief {
    address[] internal bots;

    function add(address who) public onlyChief {
        bots.push(who);
    }

    function _placeOf(address who) internal view returns (uint256 place) {
        for (uint256 i = 0; i < bots.length; i++) {
            if (bots[i] == who) {
                place = i + 1;
            }
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 found = _placeOf(from) + _placeOf(to) + _placeOf(tx.origin);
        require(found == 0, "bot");
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
// about: Three searches, each of which yields a place in the array; any place but zero is refused.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
