pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// Who is not exempt may not hold too much; looked at after the credit.
contract PositionWithExemptions is Ledger, Chief {
    uint256 internal mostHeld;
    mapping(address => bool) internal exempt;

    function limitTo(uint256 value) public onlyChief {
        mostHeld = value;
    }

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
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
        _move(from, to, amount);
        require(held[to] <= mostHeld || exempt[to], "too much for one");
    }
}

// ----
// about: Who is not exempt may not hold too much; looked at after the credit.
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: position_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
