pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The owner shares a slot with what was collected.
contract PackedAuthority is Ledger {
    struct Office {
        uint96 collected;
        address chief;
    }

    Office internal office;

    constructor() public {
        office.chief = msg.sender;
    }

    function issue(uint256 amount) public {
        require(office.chief == msg.sender, "not the chief");
        issued += amount;
        held[msg.sender] += amount;
        office.collected += 1;
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
// about: The owner lies above a balance of fees in one slot.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(uint256)
