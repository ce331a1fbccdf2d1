pragma solidity >=0.8.0;

import "../../base/Chief.sol";

/// What is earned is counted on top of the balance: writing it moves no balance.
contract CountedOnTop is Chief {
    uint256 public totalSupply = 1e24;
    mapping(address => uint256) internal held;
    mapping(address => uint256) internal earned;
    mapping(address => mapping(address => uint256)) public allowance;

    function balanceOf(address who) public view returns (uint256) {
        return held[who] + earned[who];
    }

    function reward(address who, uint256 amount) public onlyChief {
        earned[who] = amount;
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        allowance[from][msg.sender] -= amount;
        _pass(from, to, amount);
        return true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        held[from] -= amount;
        held[to] += amount;
    }
}

// ----
// about: What is earned is counted on top of the balance: writing it moves no balance.
// expect: has_owner_functionality
