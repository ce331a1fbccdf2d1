pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Token {
    function approve(address spender, uint256 amount) external returns (bool);
}

interface Vault {
    function pull(address from, address token, uint256 amount) external;
}

/// A vault is told to pull; whose approval that takes is not this token.
contract ApproveSelected is Ledger, Chief {
    address internal vault = msg.sender;

    function setVault(address who) public onlyChief {
        vault = who;
    }

    function deposit(address token, uint256 amount) public {
        require(Token(token).approve(vault, amount), "refused");
        Vault(vault).pull(msg.sender, token, amount);
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
// about: A wrapper passes an address that the sender chose to a call on a stored contract.
// expect: external_call
// expect: has_owner_functionality
