pragma solidity >=0.4.22;

/// Balances are the second field of a struct.
contract StructBalances {
    struct Account {
        uint256 joined;
        uint256 balance;
    }

    mapping(address => Account) internal accounts;

    function totalSupply() public pure returns (uint256) {
        return 1e24;
    }

    function balanceOf(address who) public view returns (uint256) {
        return accounts[who].balance;
    }

    function join(uint256 value) public {
        accounts[msg.sender].joined = value;
    }

    mapping(address => mapping(address => uint256)) internal lent;

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
        Account storage giver = accounts[from];
        require(giver.balance >= amount, "balance");
        giver.balance -= amount;
        accounts[to].balance += amount;
    }
}

// ----
// about: Balances are the second field of a struct.
