pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Other {
    function transfer(address to, uint256 amount) external returns (bool);
}

/// Tokens that came here by mistake can be taken out.
contract RescueTokens is Ledger, Chief {
    function rescue(Other token, uint256 amount) public onlyChief {
        token.transfer(chief, amount);
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
// about: Tokens that came here by mistake can be taken out.
// expect: external_call
// expect: has_owner_functionality
