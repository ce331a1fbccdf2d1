pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A stored largest transfer says nothing about balances.
contract AmountOnly is Ledger, Chief {
    uint256 internal largest = 3e22;

    function setLargest(uint256 value) public {
        require(chief == msg.sender);
        largest = value;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        require(amount <= largest);
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        if (amount > largest) revert();
        _spend(from, amount);
        _move(from, to, amount);
        return true;
    }
}

// ----
// about: A stored largest transfer says nothing about balances.
// expect: has_owner_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
