pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// Nobody may hold more than a share of what is not burned.
contract ShareOfWhatCirculates is Ledger, Chief {
    uint256 internal share = 2;

    function setShare(uint256 value) public onlyChief {
        share = value;
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
        uint256 circulating = issued - held[address(0xdead)];
        require(held[to] + amount <= (circulating * share) / 100, "too much for one");
        _move(from, to, amount);
    }
}

// ----
// about: Nobody may hold more than a share of what is not burned.
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: position_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
