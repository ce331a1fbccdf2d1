// SPDX-License-Identifier: MIT
// Tokens with caps of every make; each says "cap" when it is the cap that refuses.
pragma solidity >=0.6.0 <0.9.0;

abstract contract Token {
    string public constant name = "Capped";
    string public constant symbol = "CAP";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 public totalSupply;
    address public owner;
    address public pair;
    mapping(address => bool) public exempt;

    // More than there is in all, so that each can be asked to send or take as much as there is.
    function init(uint256 supply, address holder, address pool, address half) external {
        require(totalSupply == 0, "once");
        owner = msg.sender;
        pair = pool;
        totalSupply = supply;
        balanceOf[holder] = supply;
        balanceOf[pool] = supply;
        balanceOf[half] = supply / 2;
        setUp();
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "owner");
        _;
    }

    function setUp() internal virtual {}

    function check(address from, address to, uint256 amount) internal virtual;

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        require(allowance[from][msg.sender] >= amount, "allowance");
        allowance[from][msg.sender] -= amount;
        move(from, to, amount);
        return true;
    }

    function move(address from, address to, uint256 amount) private {
        check(from, to, amount);
        require(balanceOf[from] >= amount, "balance");
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}

contract StoredCap is Token {
    uint256 public cap;

    function set(uint256 value) external onlyOwner { cap = value; }

    function check(address from, address, uint256 amount) internal override {
        require(amount <= cap || exempt[from], "cap");
    }
}

contract StrictCap is Token {
    uint256 public cap;

    function set(uint256 value) external onlyOwner { cap = value; }

    function check(address, address, uint256 amount) internal override {
        require(amount < cap, "cap");
    }
}

contract ZeroIsOff is Token {
    uint256 public cap;

    function set(uint256 value) external onlyOwner { cap = value; }

    function check(address, address, uint256 amount) internal override {
        if (cap > 0) require(amount <= cap, "cap");
    }
}

contract Switched is Token {
    uint64 public launched;
    bool public limits;
    bool public other;
    uint128 public cap;

    function setUp() internal override { other = true; launched = 7; cap = 1e18; }

    function set(uint256 value) external onlyOwner { limits = value == 1; }

    function check(address from, address to, uint256 amount) internal override {
        if (limits && from != owner && to != owner) require(amount <= cap, "cap");
    }
}

contract EitherSwitch is Token {
    bool public buys;
    bool public sales;
    uint256 public cap;

    function setUp() internal override { cap = 1e18; }

    function set(uint256 value) external onlyOwner { buys = value & 1 != 0; sales = value & 2 != 0; }

    function check(address from, address, uint256 amount) internal override {
        if ((buys && from == pair) || (sales && from != pair)) require(amount <= cap, "cap");
    }
}

contract ShareOfSupply is Token {
    uint256 public points;

    function set(uint256 value) external onlyOwner { points = value; }

    function check(address, address, uint256 amount) internal override {
        require(amount <= totalSupply * points / 10000, "cap");
    }
}

contract ConstantCap is Token {
    uint256 public unused;

    function set(uint256 value) external onlyOwner { unused = value; }

    function check(address, address, uint256 amount) internal override {
        require(amount <= 5e18, "cap");
    }
}

contract SwitchedConstant is Token {
    bool public limits;

    function set(uint256 value) external onlyOwner { limits = value != 0; }

    function check(address, address, uint256 amount) internal override {
        require(!limits || amount <= 5e18, "cap");
    }
}

contract RemoveLimits is Token {
    uint256 public maxTx;
    uint256 public maxWallet;
    bool public open;

    function setUp() internal override { maxTx = totalSupply / 50; maxWallet = totalSupply / 25; }

    function set(uint256 value) external onlyOwner {
        if (value == 0) { open = true; } else { maxTx = totalSupply; maxWallet = totalSupply; }
    }

    function check(address from, address to, uint256 amount) internal override {
        if (from == owner || to == owner) return;
        require(open || exempt[from], "closed");
        if (from == pair && !exempt[to]) {
            require(amount <= maxTx, "cap");
            require(balanceOf[to] + amount <= maxWallet, "wallet");
        }
    }
}

contract WalletCap is Token {
    uint256 public cap;

    function set(uint256 value) external onlyOwner { cap = value; }

    function check(address, address to, uint256 amount) internal override {
        if (to != pair && !exempt[to]) require(balanceOf[to] + amount <= cap, "wallet");
    }
}

contract UntilBlock is Token {
    uint256 public last;

    function set(uint256 value) external onlyOwner { last = value; }

    function check(address, address, uint256 amount) internal override {
        if (block.number < last) require(amount <= 5e18, "cap");
    }
}

contract AllButAll is Token {
    uint256 public cap;

    function set(uint256 value) external onlyOwner { cap = value; }

    function check(address, address, uint256 amount) internal override {
        if (amount != totalSupply) require(amount <= cap, "cap");
    }
}
