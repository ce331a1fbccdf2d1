pragma solidity >=0.8.0;

import "../../base/Ledger.sol";

/// Transfers are counted, each count with the compiler's check; the tax ends after twenty.
contract CountsItsTransfers is Ledger {
    uint256 internal count;
    uint32 internal rounds;

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
        uint256 fee = count > 20 ? 0 : amount / 50;
        count++;
        rounds++;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: Transfers are counted, each count with the compiler's check; the tax ends after twenty.
// expect: has_tax_functionality
// unsure: tax_can_be_modified
