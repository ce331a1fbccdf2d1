pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// One call pays many, in a loop.
contract ManyAtOnce is Ledger {
    function payMany(address[] memory to, uint256[] memory amounts) public returns (bool) {
        for (uint256 i = 0; i < to.length; i++) {
            _move(msg.sender, to[i], amounts[i]);
        }
        return true;
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
// about: One call pays many, in a loop.
// balance_update_function: payMany(address[],uint256[])
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
