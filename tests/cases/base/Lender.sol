pragma solidity >=0.4.22;

/// Allowances and little else: how balances are kept is the case's own.
contract Lender {
    mapping(address => mapping(address => uint256)) internal lent;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function name() public pure returns (string memory) {
        return "Case";
    }

    function decimals() public pure returns (uint8) {
        return 18;
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function _spend(address owner, uint256 amount) internal {
        require(lent[owner][msg.sender] >= amount, "allowance");
        lent[owner][msg.sender] -= amount;
    }
}
