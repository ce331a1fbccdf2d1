pragma solidity >=0.4.22;

/// The books that most cases share: balances, allowances and a supply that is issued once.
contract Ledger {
    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) internal lent;
    uint256 internal issued;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor() public {
        issued = 1e24;
        held[msg.sender] = issued;
    }

    function name() public pure returns (string memory) {
        return "Case";
    }

    function decimals() public pure returns (uint8) {
        return 18;
    }

    function totalSupply() public view returns (uint256) {
        return issued;
    }

    function balanceOf(address who) public view returns (uint256) {
        return held[who];
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

    function _move(address from, address to, uint256 amount) internal {
        require(to != address(0), "nobody");
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += amount;
        emit Transfer(from, to, amount);
    }
}
