pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The owner is stored under a mask.
contract MaskedOwner is Ledger {
    uint256 internal hidden = uint256(uint160(msg.sender)) ^ 0x1234567890;

    function issue(uint256 amount) public {
        require(uint256(uint160(msg.sender)) ^ 0x1234567890 == hidden, "not the chief");
        issued += amount;
        held[msg.sender] += amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
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
// about: The caller is exclusive-ored with a stored mask before it is compared.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(uint256)
