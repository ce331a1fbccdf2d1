pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// Allowances are also raised and lowered.
contract MoreAndLess is Ledger {
    function increaseAllowance(address spender, uint256 more) public returns (bool) {
        lent[msg.sender][spender] += more;
        return true;
    }

    function decreaseAllowance(address spender, uint256 less) public returns (bool) {
        uint256 now_ = lent[msg.sender][spender];
        require(now_ >= less, "below zero");
        lent[msg.sender][spender] = now_ - less;
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
// about: Allowances are also raised and lowered.
// allowance_update_function: approve(address,uint256)
// allowance_update_function: decreaseAllowance(address,uint256)
// allowance_update_function: increaseAllowance(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
