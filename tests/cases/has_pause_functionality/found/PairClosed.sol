pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// While trading is closed, nothing moves to or from the one pair.
contract PairClosed is Ledger, Chief {
    bool internal open;
    address internal pair;

    function openWith(address found) public onlyChief {
        pair = found;
        open = true;
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
        if (!open) {
            require(from != pair && to != pair, "closed");
        }
        _move(from, to, amount);
    }
}

// ----
// about: While trading is closed, nothing moves to or from the one pair.
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
