pragma solidity >=0.4.22;

/// The supply counts out what the dead address holds.
contract SupplyWithoutDead {
    function totalSupply() public view returns (uint256) {
        return 1e24 - held[address(uint160(0xdEaD))];
    }

    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) internal lent;

    function balanceOf(address who) public view returns (uint256) {
        return held[who];
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
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

    function _spend(address owner, uint256 amount) internal {
        require(lent[owner][msg.sender] >= amount, "allowance");
        lent[owner][msg.sender] -= amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += amount;
    }
}

// ----
// about: The supply counts out what the dead address holds.
// expect: mint_or_burn_function
