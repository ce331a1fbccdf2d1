pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// An array whose length is stored is filled on the way.
contract PathsOfStoredLength is Ledger, Chief {
    uint256 internal hops;

    function setHops(uint256 value) public onlyChief {
        hops = value;
    }

    function _pass(address from, address to, uint256 amount) internal {
        address[] memory path = new address[](2 + hops);
        path[0] = address(this);
        path[1] = to;
        for (uint256 i = 0; i < hops; i++) {
            path[i + 2] = from;
        }
        lent[address(this)][path[1]] += amount;
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
// about: The way of the swap is an array of stored length.
// expect: has_owner_functionality
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transfer(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
