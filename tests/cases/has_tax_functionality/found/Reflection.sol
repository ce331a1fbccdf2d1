pragma solidity >=0.4.22;

/// A share of each transfer is spread over all holders.
contract Reflection {
    uint256 internal constant FIXED = 1e24;
    uint256 internal pool = ~uint256(0) - (~uint256(0) % FIXED);
    mapping(address => uint256) internal shares;
    mapping(address => mapping(address => uint256)) internal lent;

    constructor() public {
        shares[msg.sender] = pool;
    }

    function totalSupply() public pure returns (uint256) {
        return FIXED;
    }

    function balanceOf(address who) public view returns (uint256) {
        return shares[who] / _rate();
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
        uint256 rate = _rate();
        uint256 fee = amount / 20;
        require(shares[from] >= amount * rate, "balance");
        shares[from] -= amount * rate;
        shares[to] += (amount - fee) * rate;
        pool -= fee * rate;
    }

    function _rate() internal view returns (uint256) {
        return pool / FIXED;
    }
}

// ----
// about: A share of each transfer is spread over all holders.
// expect: has_tax_functionality
