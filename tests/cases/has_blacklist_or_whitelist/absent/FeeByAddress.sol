pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Listed addresses pay a fee of their own.
contract FeeByAddress is Ledger, Chief {
    mapping(address => uint256) internal rate;

    function setRate(address who, uint256 value) public onlyChief {
        require(value <= 10, "rate");
        rate[who] = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 fee = (amount * rate[from]) / 100;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
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
// about: A fee rate per address; nobody is refused.
// expect: has_owner_functionality
// expect: has_tax_functionality
// unsure: tax_can_be_modified
