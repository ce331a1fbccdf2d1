pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A tax of all but listed addresses goes to a stored address that shares its slot and must be set.
contract PackedPurse is Ledger, Chief {
    uint96 internal spare; // fills the chief's slot
    bool internal open;
    address internal purse = msg.sender;
    mapping(address => bool) internal exempt;

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
    }

    function isOpen() public view returns (bool) {
        return open;
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
        uint256 fee = exempt[from] ? 0 : amount / 50;
        if (fee > 0) {
            _move(from, purse, fee);
        }
        _move(from, to, amount - fee);
    }
}

// ----
// about: A tax of all but listed addresses goes to a stored address that shares its slot and must be set.
// expect: has_owner_functionality
// expect: has_tax_functionality
