pragma solidity >=0.4.22;

/// A balance shares its word with a count.
contract PackedBalances {
    struct Account {
        uint128 balance;
        uint64 sent;
    }

    mapping(address => Account) internal accounts;

    function totalSupply() public pure returns (uint256) {
        return 1e24;
    }

    function balanceOf(address who) public view returns (uint256) {
        return accounts[who].balance;
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
        require(accounts[from].balance >= amount, "balance");
        accounts[from].balance -= uint128(amount);
        accounts[from].sent += 1;
        accounts[to].balance += uint128(amount);
    }
}

// ----
// about: A balance shares its word with a count.
