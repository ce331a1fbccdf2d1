pragma solidity >=0.4.22;

library SafeMath {
    function sub(uint256 a, uint256 b, string memory why) internal pure returns (uint256) {
        require(b <= a, why);
        return a - b;
    }

    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        uint256 c = a + b;
        require(c >= a, "SafeMath: addition overflow");
        return c;
    }

    function mul(uint256 a, uint256 b) internal pure returns (uint256) {
        if (a == 0) return 0;
        uint256 c = a * b;
        require(c / a == b, "SafeMath: multiplication overflow");
        return c;
    }

    function div(uint256 a, uint256 b) internal pure returns (uint256) {
        require(b > 0, "SafeMath: division by zero");
        return a / b;
    }
}

/// All arithmetic goes through a library that refuses to overflow.
contract CheckedArithmetic {
    using SafeMath for uint256;

    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) internal lent;
    uint256 internal rate = 3;

    constructor() public {
        held[msg.sender] = 1e24;
    }

    function totalSupply() public pure returns (uint256) {
        return 1e24;
    }

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
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _move(from, to, amount);
        lent[from][msg.sender] = lent[from][msg.sender].sub(amount, "allowance");
        return true;
    }

    function _move(address from, address to, uint256 amount) internal {
        uint256 fee = amount.mul(rate).div(100);
        held[from] = held[from].sub(amount, "balance");
        held[to] = held[to].add(amount.sub(fee, "fee"));
        held[address(this)] = held[address(this)].add(fee);
    }
}

// ----
// about: All arithmetic goes through a library that refuses to overflow.
// expect: has_tax_functionality
