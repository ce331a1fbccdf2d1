pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// The wrapper moves the tokens of its caller: no allowance is spent on that way.
contract PullThroughAnybody is Ledger {
    function push(address to, uint256 amount) public {
        _pull(msg.sender, to, amount);
    }

    function pull(address from, uint256 amount) public {
        _pull(from, msg.sender, amount);
    }

    function _pull(address from, address to, uint256 amount) internal {
        if (from != msg.sender) {
            _spend(from, amount);
        }
        _move(from, to, amount);
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
// about: A wrapper that spends through a shared body, as the sender or as somebody else.
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: push(address,uint256)
// balance_update_function: pull(address,uint256)
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
// allowance_update_function: pull(address,uint256)
