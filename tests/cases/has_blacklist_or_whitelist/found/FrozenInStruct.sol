pragma solidity >=0.4.22;

import "../../base/Chief.sol";

/// The list is a flag beside the balance, in one struct.
contract FrozenInStruct is Chief {
    struct Account {
        uint256 balance;
        bool frozen;
    }

    mapping(address => Account) internal accounts;

    function balanceOf(address who) public view returns (uint256) {
        return accounts[who].balance;
    }

    function freeze(address who, bool value) public onlyChief {
        accounts[who].frozen = value;
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

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        return true;
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    mapping(address => mapping(address => uint256)) internal lent;

    function _spend(address owner, uint256 amount) internal {
        require(lent[owner][msg.sender] >= amount, "allowance");
        lent[owner][msg.sender] -= amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(!accounts[from].frozen, "frozen");
        require(accounts[from].balance >= amount, "balance");
        accounts[from].balance -= amount;
        accounts[to].balance += amount;
    }
}

// ----
// about: The list is a flag beside the balance, in one struct.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
