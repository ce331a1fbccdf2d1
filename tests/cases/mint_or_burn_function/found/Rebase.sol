pragma solidity >=0.4.22;

import "../../base/Chief.sol";

/// The chief stretches everybody's balance and the supply.
contract Rebase is Chief {
    uint256 internal supply = 1e24;
    uint256 internal perToken = 1e30;
    mapping(address => uint256) internal grains;
    mapping(address => mapping(address => uint256)) internal lent;

    function totalSupply() public view returns (uint256) {
        return supply;
    }

    function balanceOf(address who) public view returns (uint256) {
        return grains[who] / perToken;
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        return true;
    }

    function rebase(uint256 next) public onlyChief {
        perToken = perToken * supply / next;
        supply = next;
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

    function _spend(address owner, uint256 amount) internal {
        require(lent[owner][msg.sender] >= amount, "allowance");
        lent[owner][msg.sender] -= amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 parts = amount * perToken;
        require(grains[from] >= parts, "balance");
        grains[from] -= parts;
        grains[to] += parts;
    }
}

// ----
// about: The chief stretches everybody's balance and the supply.
// expect: has_owner_functionality
// expect: mint_or_burn_function
