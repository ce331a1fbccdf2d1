pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The chief sets the rate of the tax on sells.
contract StoredTax is Ledger, Chief {
    uint256 internal rate = 5;
    address internal pair;

    function setRate(uint256 value) public onlyChief {
        rate = value;
    }

    function setPair(address value) public onlyChief {
        pair = value;
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
        uint256 fee = 0;
        if (to == pair) {
            fee = amount * rate / 100;
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: The chief sets the rate of the tax on sells.
// expect: has_owner_functionality
// expect: has_tax_functionality
// expect: tax_can_be_modified
