pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// After a time written in the code the tax ends.
contract ConstantTime is Ledger {
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
        uint256 fee = block.timestamp < 1900000000 ? amount / 10 : 0;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: After a time written in the code the tax ends.
// expect: has_tax_functionality
// expect: timebomb
