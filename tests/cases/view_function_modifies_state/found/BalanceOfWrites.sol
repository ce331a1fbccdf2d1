pragma solidity >=0.4.22;

/// Asking for a balance counts the question.
contract BalanceOfWrites {
    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) internal lent;
    uint256 internal asked;

    function balanceOf(address who) public returns (uint256) {
        asked += 1;
        return held[who];
    }

    function totalSupply() public pure returns (uint256) {
        return 1e24;
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        require(held[msg.sender] >= amount, "balance");
        held[msg.sender] -= amount;
        held[to] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        require(lent[from][msg.sender] >= amount, "allowance");
        lent[from][msg.sender] -= amount;
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += amount;
        return true;
    }
}

// ----
// about: Asking for a balance counts the question.
// expect: view_function_modifies_state
