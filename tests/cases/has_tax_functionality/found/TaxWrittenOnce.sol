pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The rate is stored by the constructor and never again.
contract TaxWrittenOnce is Ledger {
    uint256 internal rate;
    address internal pair;

    constructor(uint256 value, address other) public {
        rate = value;
        pair = other;
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
        uint256 fee = to == pair ? amount * rate / 100 : 0;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: The rate is stored by the constructor and never again.
// expect: has_tax_functionality
