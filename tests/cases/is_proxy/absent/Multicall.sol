pragma solidity >=0.8.0;

import "../../base/Ledger.sol";

/// Several calls of its own in one, by delegating to itself.
contract Multicall is Ledger {
    function multicall(bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool ok, ) = address(this).delegatecall(calls[i]);
            require(ok, "failed");
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
// about: Several calls of its own in one, by delegating to itself.
// unsure: allowance_update_function
// unsure: balance_update_function
// unsure: external_call
