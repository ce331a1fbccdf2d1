pragma solidity >=0.8.4;

/// One function moves, mints and burns; from here it can only move.
contract SharedUpdate {
    mapping(address => uint256) internal held;
    mapping(address => mapping(address => uint256)) internal lent;
    uint256 internal issued;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error Invalid(address who);
    error TooLittle(address who, uint256 has, uint256 needs);

    constructor() {
        _update(address(0), msg.sender, 1e24);
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
        _approve(msg.sender, spender, amount, true);
        return true;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _transfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        uint256 left = allowance(from, msg.sender);
        if (left != type(uint256).max) {
            if (left < amount) revert TooLittle(msg.sender, left, amount);
            unchecked {
                _approve(from, msg.sender, left - amount, false);
            }
        }
        _transfer(from, to, amount);
        return true;
    }

    function _approve(address owner, address spender, uint256 amount, bool tells) internal {
        if (owner == address(0)) revert Invalid(owner);
        if (spender == address(0)) revert Invalid(spender);
        lent[owner][spender] = amount;
        if (tells) emit Approval(owner, spender, amount);
    }

    function _transfer(address from, address to, uint256 amount) internal {
        if (from == address(0)) revert Invalid(from);
        if (to == address(0)) revert Invalid(to);
        _update(from, to, amount);
    }

    function _update(address from, address to, uint256 amount) internal {
        if (from == address(0)) {
            issued += amount;
        } else {
            uint256 has = held[from];
            if (has < amount) revert TooLittle(from, has, amount);
            unchecked {
                held[from] = has - amount;
            }
        }
        if (to == address(0)) {
            unchecked {
                issued -= amount;
            }
        } else {
            unchecked {
                held[to] += amount;
            }
        }
        emit Transfer(from, to, amount);
    }
}

// ----
// about: One function moves, mints and burns; from here it can only move.
