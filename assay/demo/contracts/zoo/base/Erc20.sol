// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// The plain token under every animal of the zoo: no owner, no switch, no fee.
abstract contract Erc20 {
    uint256 internal constant SUPPLY = 1_000_000 ether;

    string public name;
    uint256 public totalSupply;
    mapping(address => uint256) internal _balances;
    mapping(address => mapping(address => uint256)) internal _allowances;
    string internal _symbol;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory name_, string memory symbol_) {
        name = name_;
        _symbol = symbol_;
        _issue(msg.sender, SUPPLY);
    }

    function decimals() external pure virtual returns (uint8) {
        return 18;
    }

    function symbol() external view virtual returns (string memory) {
        return _symbol;
    }

    function balanceOf(address account) external view virtual returns (uint256) {
        return _balances[account];
    }

    function allowance(address holder, address spender) external view virtual returns (uint256) {
        return _allowances[holder][spender];
    }

    function approve(address spender, uint256 amount) public virtual returns (bool) {
        _allowances[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external virtual returns (bool) {
        _transfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external virtual returns (bool) {
        _spend(from, amount);
        _transfer(from, to, amount);
        return true;
    }

    /// Where the animals put what makes them special.
    function _transfer(address from, address to, uint256 amount) internal virtual {
        _move(from, to, amount);
    }

    function _spend(address from, uint256 amount) internal virtual {
        uint256 allowed = _allowances[from][msg.sender];
        if (allowed == type(uint256).max) return;
        require(allowed >= amount, "ERC20: insufficient allowance");
        _allowances[from][msg.sender] = allowed - amount;
    }

    function _move(address from, address to, uint256 amount) internal {
        require(_balances[from] >= amount, "ERC20: transfer amount exceeds balance");
        unchecked {
            _balances[from] -= amount;
            _balances[to] += amount;
        }
        emit Transfer(from, to, amount);
    }

    function _issue(address to, uint256 amount) internal {
        totalSupply += amount;
        _balances[to] += amount;
        emit Transfer(address(0), to, amount);
    }
}
