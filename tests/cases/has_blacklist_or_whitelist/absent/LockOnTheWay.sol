pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Transfers that do not come from a listed market pay out, behind a lock against re-entry.
contract LockOnTheWay is Ledger, Chief {
    mapping(address => bool) internal isMarket;
    uint256 internal lock = 1;
    address internal purse;

    modifier locked() {
        require(lock != 2, "entered");
        lock = 2;
        _;
        lock = 1;
    }

    function setMarket(address who, bool value) public onlyChief {
        isMarket[who] = value;
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
        if (!isMarket[from]) {
            _pay();
        }
        _move(from, to, amount);
    }

    function _pay() internal locked {
        address(uint160(purse)).call("");
    }
}

// ----
// about: Transfers that do not come from a listed market pay out, behind a lock against re-entry.
// expect: external_call
// expect: has_owner_functionality
// unsure: transfer_from_guarded_by_storage
// unsure: transfer_guarded_by_storage
