pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The owner is known by the hash of an address, in the code.
contract HashedConstantOwner is Ledger {
    bytes32 internal constant CHIEF = 0x3fb2a1b5c9d8e7f60123456789abcdef0fedcba98765432100112233445566ff;

    function issue(uint256 amount) public {
        require(keccak256(abi.encodePacked(msg.sender)) == CHIEF, "not the chief");
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
// about: The packed hash of the caller is compared with a constant.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(uint256)
