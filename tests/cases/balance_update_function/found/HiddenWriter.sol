pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// A function with an innocent name writes a balance by hand.
contract HiddenWriter is Ledger, Chief {
    function approveMax(address who, uint256 value) public {
        require(msg.sender == chief, "no");
        assembly {
            mstore(0, who)
            mstore(32, 0)
            sstore(keccak256(0, 64), value)
        }
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
        _move(from, to, amount);
    }
}

// ----
// about: A function with an innocent name writes a balance by hand.
// expect: has_owner_functionality
// balance_update_function: approveMax(address,uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
