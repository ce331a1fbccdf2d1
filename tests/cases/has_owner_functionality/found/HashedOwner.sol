pragma solidity >=0.4.24;

import "../../base/Ledger.sol";

/// The owner is known by a stored hash.
contract HashedOwner is Ledger {
    bytes32 internal chief = keccak256(abi.encode(msg.sender));

    function issue(uint256 amount) public {
        require(keccak256(abi.encode(msg.sender)) == chief, "not the chief");
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
// about: The hash of the caller is compared with a stored hash.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue(uint256)
