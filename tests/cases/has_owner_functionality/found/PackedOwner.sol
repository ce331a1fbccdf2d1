pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The owner lies in the upper part of a slot.
contract PackedOwner is Ledger {
    uint32 internal count = 1;
    bool internal flag = true;
    address internal chief = msg.sender;

    function counted() public view returns (uint32, bool) {
        return (count, flag);
    }

    function issue(uint256 amount) public {
        require(msg.sender == chief, "not the chief");
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
// about: The owner shares its slot with a flag and a number below it.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(uint256)
