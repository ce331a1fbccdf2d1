pragma solidity >=0.4.22;

/// Holders can send, and nobody can send for them.
contract NoAllowances {
    mapping(address => uint256) internal purse;

    function balanceOf(address who) public view returns (uint256) {
        return purse[who];
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        require(purse[msg.sender] >= amount, "balance");
        purse[msg.sender] -= amount;
        purse[to] += amount;
        return true;
    }
}

// ----
// about: Holders can send, and nobody can send for them.
// balance_update_function: transfer(address,uint256)
// allowance_update_function: none
