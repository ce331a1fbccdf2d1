pragma solidity >=0.4.22 <0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The chief can end the contract.
contract ChiefDestroys is Ledger, Chief {
    function close() public onlyChief {
        selfdestruct(msg.sender);
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
// about: The chief can end the contract.
// expect: can_selfdestruct
// expect: has_owner_functionality
