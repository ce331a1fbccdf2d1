pragma solidity >=0.4.22 <0.8.0;

import "../../base/Ledger.sol";

/// Whoever pays gets tokens, and may redeem them.
contract AnybodyMints is Ledger {
    function deposit() public payable {
        issued += msg.value;
        held[msg.sender] += msg.value;
    }

    function redeem(uint256 amount) public {
        require(held[msg.sender] >= amount, "balance");
        held[msg.sender] -= amount;
        issued -= amount;
        msg.sender.transfer(amount);
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
// about: Whoever pays gets tokens, and may redeem them.
// expect: external_call
// expect: mint_or_burn_function
// balance_update_function: deposit()
// balance_update_function: redeem(uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
