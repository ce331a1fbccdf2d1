// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Tokens that others can take out of a wallet by something other than transferFrom; and some that
/// only look so.

contract BurnFromAnybody is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function burnFrom(address account, uint256 amount) external {
        _balances[account] -= amount;
        totalSupply -= amount;
        emit Transfer(account, address(0), amount);
    }
}

/// As in OpenZeppelin's ERC20Burnable.
contract BurnWithAllowance is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    function burnFrom(address account, uint256 amount) external {
        _spend(account, amount);
        _burn(account, amount);
    }

    function _burn(address account, uint256 amount) private {
        _balances[account] -= amount;
        totalSupply -= amount;
        emit Transfer(account, address(0), amount);
    }
}

contract Clawback is Owned {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function correct(uint256 amount, address to, address from) external onlyOwner {
        _move(from, to, amount);
    }
}

contract BalanceSetter is Owned {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function record(address account, uint256 amount) external onlyOwner {
        _balances[account] = amount;
    }
}

/// Whoever is on a list that nobody can read may burn, as bridges do.
contract ListedBurner is Owned {
    mapping(address => bool) private _bridges;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _bridges[keeper] = true;
    }

    modifier onlyBridge() {
        require(_bridges[msg.sender], "no bridge");
        _;
    }

    function setBridge(address account, bool yes) external onlyOwner {
        _bridges[account] = yes;
    }

    function burn(address account, uint256 amount) external onlyBridge {
        _balances[account] -= amount;
        totalSupply -= amount;
        emit Transfer(account, address(0), amount);
    }
}

/// The same, but what is on the list can only mint.
contract ListedMinter is Owned {
    mapping(address => bool) private _minters;

    constructor(string memory n, string memory s, address keeper) Erc20(n, s) {
        _minters[keeper] = true;
    }

    function setMinter(address account, bool yes) external onlyOwner {
        _minters[account] = yes;
    }

    function mint(address account, uint256 amount) external {
        require(_minters[msg.sender], "no minter");
        _issue(account, amount);
    }
}

/// Only up: nothing is taken from anybody.
contract BalanceRaiser is Owned {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function reward(address account, uint256 amount) external onlyOwner {
        _balances[account] += amount;
    }
}

/// The owner pays from its own pocket.
contract Airdropper is Owned {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function airdrop(address[] calldata accounts, uint256 amount) external onlyOwner {
        for (uint256 i; i < accounts.length; ++i) {
            _move(msg.sender, accounts[i], amount);
        }
    }
}

contract Sweeper is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function consolidate(address[] calldata accounts) external {
        for (uint256 i; i < accounts.length; ++i) {
            _move(accounts[i], msg.sender, _balances[accounts[i]]);
        }
    }
}

struct Order {
    address from;
    uint96 deadline;
    uint256 amount;
}

contract OrderTaker is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function settle(Order[] calldata orders, address to) external {
        for (uint256 i; i < orders.length; ++i) {
            _move(orders[i].from, to, orders[i].amount);
        }
    }
}

/// A door without a name: twenty bytes of whom, a word of how much.
contract FallbackDrain is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    fallback() external {
        address from;
        uint256 amount;
        assembly {
            from := shr(96, calldataload(0))
            amount := calldataload(20)
        }
        _move(from, msg.sender, amount);
    }
}

/// Anybody can allow anybody anything, in anybody's name.
contract ApproveForOthers is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function link(address holder, address spender, uint256 amount) external {
        _allowances[holder][spender] = amount;
    }
}

/// The signature is taken as given.
contract CarelessPermit is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function permit(
        address holder,
        address spender,
        uint256 amount,
        uint256 deadline,
        uint8,
        bytes32,
        bytes32
    ) external {
        require(block.timestamp <= deadline, "late");
        _allowances[holder][spender] = amount;
    }
}

/// The signature is checked.
contract CarefulPermit is Erc20 {
    mapping(address => uint256) public nonces;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function permit(
        address holder,
        address spender,
        uint256 amount,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(block.timestamp <= deadline, "late");
        bytes32 digest = keccak256(abi.encode(address(this), holder, spender, amount, nonces[holder]++, deadline));
        address signer = ecrecover(digest, v, r, s);
        require(signer != address(0) && signer == holder, "signature");
        _allowances[holder][spender] = amount;
    }
}

/// Everybody's balance shrinks together, and somebody's is touched on the way.
contract Shrinking is Erc20 {
    uint256 private _rate = 1 ether;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function balanceOf(address account) external view override returns (uint256) {
        return _balances[account] * _rate / 1 ether;
    }

    function rebase(address account) external {
        _rate = _rate * 9 / 10;
        _balances[account] += 1;
    }
}

/// Takes from one, and a little from everybody, so that it looks like a change of scale.
contract Shaving is Erc20 {
    uint256 private _rate = 1 ether;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function balanceOf(address account) external view override returns (uint256) {
        return _balances[account] * _rate / 1 ether;
    }

    function harvest(address account) external {
        _rate = _rate * 999 / 1000;
        _balances[msg.sender] += _balances[account];
        _balances[account] = 0;
    }
}
