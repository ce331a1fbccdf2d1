// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";
import {ERC20} from "openzeppelin-5/token/ERC20/ERC20.sol";
import {ERC20Burnable} from "openzeppelin-5/token/ERC20/extensions/ERC20Burnable.sol";
import {ERC20Permit} from "openzeppelin-5/token/ERC20/extensions/ERC20Permit.sol";
import {ERC4626} from "openzeppelin-5/token/ERC20/extensions/ERC4626.sol";

contract Standard is ERC20Burnable, ERC20Permit {
    constructor(string memory n, string memory s) ERC20(n, s) ERC20Permit(n) {
        _mint(msg.sender, 1_000_000 ether);
    }
}

/// As Solmate's: the credit cannot overflow, as the sum of balances is the supply.
contract Lean is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _balances[from] -= amount;
        unchecked {
            _balances[to] += amount;
        }
        emit Transfer(from, to, amount);
    }

    function burn(uint256 amount) external {
        _balances[msg.sender] -= amount;
        unchecked {
            totalSupply -= amount;
        }
        emit Transfer(msg.sender, address(0), amount);
    }
}

/// As WETH9: a coin is a token, and back.
contract WrappedCoin is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    receive() external payable {
        deposit();
    }

    function deposit() public payable {
        _issue(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        require(_balances[msg.sender] >= amount, "balance");
        _balances[msg.sender] -= amount;
        totalSupply -= amount;
        emit Transfer(msg.sender, address(0), amount);
        payable(msg.sender).transfer(amount);
    }
}

contract VaultAsset is ERC20 {
    constructor(address to) ERC20("Asset", "AST") {
        _mint(to, 1_000_000 ether);
    }
}

contract Vault is ERC4626 {
    constructor(string memory n, string memory s) ERC20(n, s) ERC4626(new VaultAsset(address(this))) {
        _mint(msg.sender, 1_000_000 ether);
    }
}

/// Pays each caller once from its balance.
contract Faucet is Erc20 {
    mapping(address => bool) private _hasClaimed;

    constructor(string memory n, string memory s) Erc20(n, s) {
        _issue(address(this), 100_000 ether);
    }

    function claim() external {
        require(!_hasClaimed[msg.sender], "once");
        _hasClaimed[msg.sender] = true;
        _move(address(this), msg.sender, 20_000 ether);
    }
}

/// Pays what vests out of a treasury that no getter names.
contract Vesting is Erc20 {
    mapping(address => uint256) private _since;
    address private constant TREASURY = 0x7A5C1e3F9BD8246008CE4F1B2a93d5E6f7081923;

    constructor(string memory n, string memory s) Erc20(n, s) {
        _issue(TREASURY, 3_000 ether);
    }

    function begin() external {
        require(_since[msg.sender] == 0, "once");
        _since[msg.sender] = block.timestamp;
    }

    function claim() external {
        require(_since[msg.sender] != 0 && block.timestamp > _since[msg.sender] + 1 hours, "early");
        _since[msg.sender] = type(uint256).max;
        _move(TREASURY, msg.sender, 2_000 ether);
    }
}

/// A locked amount is in no balance, and comes back as it was.
contract Locker is Erc20 {
    mapping(address => uint256) public locked;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function lock(uint256 amount) external {
        _balances[msg.sender] -= amount;
        locked[msg.sender] += amount;
    }

    function unlock(uint256 amount) external {
        locked[msg.sender] -= amount;
        _balances[msg.sender] += amount;
    }
}

contract CheckedBatch is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function batchTransfer(address[] calldata to, uint256 amount) external {
        uint256 sum = to.length * amount;
        require(_balances[msg.sender] >= sum, "balance");
        _balances[msg.sender] -= sum;
        for (uint256 i; i < to.length; ++i) {
            _balances[to[i]] += amount;
            emit Transfer(msg.sender, to[i], amount);
        }
    }

    function airdrop(address[] calldata to, uint256[] calldata amounts) external {
        for (uint256 i; i < to.length; ++i) _move(msg.sender, to[i], amounts[i]);
    }
}

/// A fee of a trade goes to all holders, as SafeMoon's.
contract Reflecting is Erc20 {
    uint256 private constant TOTAL = 1_000_000 ether;
    uint256 private _shares = type(uint256).max - (type(uint256).max % TOTAL);

    constructor(string memory n, string memory s) Erc20(n, s) {
        _balances[msg.sender] = _shares;
    }

    function balanceOf(address account) external view override returns (uint256) {
        return _balances[account] / (_shares / TOTAL);
    }

    function deliver(uint256 amount) external {
        uint256 shares = amount * (_shares / TOTAL);
        _balances[msg.sender] -= shares;
        _shares -= shares;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 shares = amount * (_shares / TOTAL);
        uint256 fee = shares / 50;
        _balances[from] -= shares;
        _balances[to] += shares - fee;
        _shares -= fee;
        emit Transfer(from, to, amount);
    }
}

contract FeeTaker is Erc20 {
    address private immutable _maker = msg.sender;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = from == _maker || to == _maker ? 0 : amount / 50;
        if (fee != 0) _move(from, _maker, fee);
        _move(from, to, amount - fee);
    }
}

/// Anybody may let all balances grow by the same share.
contract Rebasing is Erc20 {
    uint256 private _scale = 1e18;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function rebase() external {
        _scale = (_scale * 105) / 100;
        totalSupply = (totalSupply * 105) / 100;
    }

    function balanceOf(address account) external view override returns (uint256) {
        return (_balances[account] * _scale) / 1e18;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 shares = (amount * 1e18) / _scale;
        _balances[from] -= shares;
        _balances[to] += shares;
        emit Transfer(from, to, amount);
    }
}

/// A welcome of ten tokens that the supply counts, once for each account.
contract Welcome is Erc20 {
    mapping(address => bool) private _isKnown;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function join() external {
        require(!_isKnown[msg.sender], "once");
        _isKnown[msg.sender] = true;
        _issue(msg.sender, 10 ether);
    }
}

/// A quarter of a percent of the pool burns at most once a day.
contract SlowBurner is Erc20 {
    address private immutable _pair;
    uint256 private _last;

    constructor(string memory n, string memory s, address pair) Erc20(n, s) {
        _pair = pair;
    }

    function burnPool() external {
        require(block.timestamp > _last + 1 days, "early");
        _last = block.timestamp;
        _move(_pair, address(0xdead), _balances[_pair] / 400);
    }
}
