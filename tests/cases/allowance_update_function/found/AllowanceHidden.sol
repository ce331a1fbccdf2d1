pragma solidity >=0.8.0;

/// Allowances nobody can ask for: what approve stores is one.
contract AllowanceHidden {
    uint256 public totalSupply = 1e24;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) internal lent;

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        lent[from][msg.sender] -= amount;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}

// ----
// about: Allowances nobody can ask for: what approve stores is one.
