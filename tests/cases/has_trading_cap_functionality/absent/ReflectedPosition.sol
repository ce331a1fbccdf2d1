pragma solidity >=0.4.22;

import "../../base/Chief.sol";

/// A position cap where balances are counted in two books: the recipient's balance comes from
/// either, and is no amount.
contract ReflectedPosition is Chief {
    mapping(address => uint256) internal shares;
    mapping(address => uint256) internal plain;
    mapping(address => bool) internal isPlain;
    mapping(address => mapping(address => uint256)) internal lent;
    uint256 internal allShares;
    uint256 internal most;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() public {
        allShares = 1e30;
        shares[msg.sender] = 1e30;
        most = 1e22;
    }

    function totalSupply() public pure returns (uint256) {
        return 1e24;
    }

    function balanceOf(address who) public view returns (uint256) {
        if (isPlain[who]) return plain[who];
        return shares[who] / (allShares / 1e24);
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        return true;
    }

    function setMost(uint256 amount) public onlyChief {
        most = amount;
    }

    function setPlain(address who) public onlyChief {
        isPlain[who] = true;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        require(lent[from][msg.sender] >= amount, "allowance");
        lent[from][msg.sender] -= amount;
        _pass(from, to, amount);
        return true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(balanceOf(to) + amount <= most, "too much for one");
        uint256 moved = amount * (allShares / 1e24);
        require(shares[from] >= moved, "balance");
        if (isPlain[from]) {
            require(plain[from] >= amount, "balance");
            plain[from] -= amount;
        }
        if (isPlain[to]) plain[to] += amount;
        shares[from] -= moved;
        shares[to] += moved;
        emit Transfer(from, to, amount);
    }
}

// ----
// about: A position cap where balances are counted in two books is no cap on amounts.
// expect: transfer_guarded_by_storage
// expect: transfer_from_guarded_by_storage
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: position_cap_can_be_modified
// expect: has_owner_functionality
