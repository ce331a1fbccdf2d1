pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Checked differences and shares of stored numbers are no pause.
contract CheckedDifferences is Ledger, Chief {
    uint256 internal collected;
    uint256 internal paid;
    uint256 internal parts = 3;
    uint256 internal open;

    function collect(uint256 more) public onlyChief {
        collected += more;
        parts = more;
    }

    function _pass(address from, address to, uint256 amount) internal {
        open = (collected - paid) / parts;
        paid += open * parts;
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
// about: Transfers take stored numbers from each other in checked arithmetic.
// expect: has_owner_functionality
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
