// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// Tokens whose fee depends on something. It stays with the token.
abstract contract Fee is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal virtual override {
        uint256 fee;
        if (!_isOwner(from, to) && (from == pair || to == pair)) {
            fee = amount * _rate(from, amount) / 1 ether;
        }
        if (fee > 0) _keep(from, fee);
        _move(from, to, amount - fee);
    }

    function _keep(address from, uint256 fee) internal virtual {
        _move(from, address(this), fee);
    }

    /// 1 ether is everything.
    function _rate(address from, uint256 amount) internal virtual returns (uint256);
}

/// One percent, and one more every day.
contract RisingFeeToken is Fee {
    uint256 private immutable _since = block.timestamp;

    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address, uint256) internal view override returns (uint256) {
        uint256 grown = 0.01 ether + (block.timestamp - _since) * 0.01 ether / 1 days;
        return grown < 0.9 ether ? grown : 0.9 ether;
    }
}

/// Twenty percent at first, nothing after forty days.
contract FallingFeeToken is Fee {
    uint256 private immutable _since = block.timestamp;

    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address, uint256) internal view override returns (uint256) {
        uint256 fallen = (block.timestamp - _since) * 0.005 ether / 1 days;
        return fallen < 0.2 ether ? 0.2 ether - fallen : 0;
    }
}

/// Twenty percent, and one less with every trade.
contract CountedFeeToken is Fee {
    uint256 private _trades;

    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address, uint256) internal override returns (uint256) {
        uint256 before = _trades++;
        return before < 20 ? (20 - before) * 0.01 ether : 0;
    }
}

/// The first buyer pays ten percent, the others nothing.
contract FirstBuyerFeeToken is Fee {
    bool private _isOpen;

    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address from, uint256) internal override returns (uint256) {
        if (from != pair || _isOpen) return 0;
        _isOpen = true;
        return 0.1 ether;
    }
}

/// Eight percent of amounts above one percent of the supply.
contract LargeFeeToken is Fee {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address, uint256 amount) internal pure override returns (uint256) {
        return amount > SUPPLY / 100 ? 0.08 ether : 0;
    }
}

/// Half of it for who trades through others.
contract OriginFeeToken is Fee {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address from, uint256) internal view override returns (uint256) {
        return from != pair && tx.origin != from ? 0.5 ether : 0;
    }
}

/// Six percent where a contract asks for the transfer.
contract CallerFeeToken is Fee {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address, uint256) internal view override returns (uint256) {
        return msg.sender.code.length > 0 ? 0.06 ether : 0;
    }
}

/// Half of what is sold with no more gas than it takes.
contract GasFeeToken is Fee {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address from, uint256) internal view override returns (uint256) {
        return from != pair && gasleft() < 3_500_000 ? 0.5 ether : 0;
    }
}

/// Two percent of every trade are burnt.
contract BurningFeeToken is Fee {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _rate(address, uint256) internal pure override returns (uint256) {
        return 0.02 ether;
    }

    function _keep(address from, uint256 fee) internal override {
        _balances[from] -= fee;
        totalSupply -= fee;
        emit Transfer(from, address(0), fee);
    }
}

interface IFeePair {
    function getReserves() external view returns (uint112, uint112, uint32);
    function token0() external view returns (address);
    function token1() external view returns (address);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
    function sync() external;
}

interface IFeeRouter {
    function swapExactTokensForTokensSupportingFeeOnTransferTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external;
}

/// Five percent, which the token sells itself while somebody sells.
abstract contract SwapBack is Fee {
    bool private _isSelling;

    function _transfer(address from, address to, uint256 amount) internal override {
        if (_isSelling) return _move(from, to, amount);
        uint256 collected = _balances[address(this)];
        if (to == pair && from != owner && collected > 0) {
            _isSelling = true;
            _sell(collected);
            _isSelling = false;
        }
        super._transfer(from, to, amount);
    }

    function _rate(address, uint256) internal pure override returns (uint256) {
        return 0.05 ether;
    }

    function _sell(uint256 collected) internal virtual;
}

/// In the pair itself.
contract SwapBackToken is SwapBack {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _sell(uint256 collected) internal override {
        IFeePair pool = IFeePair(pair);
        (uint112 reserve0, uint112 reserve1,) = pool.getReserves();
        bool first = pool.token0() == address(this);
        (uint256 ours, uint256 theirs) =
            first ? (uint256(reserve0), uint256(reserve1)) : (uint256(reserve1), uint256(reserve0));
        uint256 paid = (collected * 997 * theirs) / (ours * 1000 + collected * 997);
        _move(address(this), pair, collected);
        pool.swap(first ? 0 : paid, first ? paid : 0, owner, "");
    }
}

/// Back through the router that is selling.
contract RouterSwapBackToken is SwapBack {
    constructor(string memory n, string memory s, address p) Fee(n, s, p) {}

    function _sell(uint256 collected) internal override {
        IFeePair pool = IFeePair(pair);
        address[] memory path = new address[](2);
        path[0] = address(this);
        path[1] = pool.token0() == address(this) ? pool.token1() : pool.token0();
        _allowances[address(this)][msg.sender] = collected;
        IFeeRouter(msg.sender).swapExactTokensForTokensSupportingFeeOnTransferTokens(
            collected, 0, path, owner, block.timestamp
        );
    }
}

/// Burns a hundredth of what the pair holds with every sale, and tells the pair.
contract PairBurningToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) {
            uint256 burnt = _balances[pair] / 100;
            _balances[pair] -= burnt;
            totalSupply -= burnt;
            emit Transfer(pair, address(0), burnt);
            IFeePair(pair).sync();
        }
        _move(from, to, amount);
    }
}

/// One percent of every trade goes to all holders, the pool among them.
contract ReflectingToken is Traded {
    uint256 private _sharesPerToken = 10 ** 30;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {
        _balances[msg.sender] = SUPPLY * _sharesPerToken;
    }

    function balanceOf(address account) external view override returns (uint256) {
        return _balances[account] / _sharesPerToken;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = _isOwner(from, to) ? 0 : amount / 100;
        uint256 shares = amount * _sharesPerToken;
        uint256 kept = fee * _sharesPerToken;
        require(_balances[from] >= shares, "ERC20: transfer amount exceeds balance");
        _balances[from] -= shares;
        _balances[to] += shares - kept;
        // Fewer shares for the same supply: everybody's are worth more.
        if (kept > 0) _sharesPerToken -= fee * _sharesPerToken / totalSupply;
        emit Transfer(from, to, amount - fee);
    }
}

/// Everybody's balance grows by a percent, once a day.
contract ElasticToken is Traded {
    uint256 private immutable _since = block.timestamp;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function balanceOf(address account) external view override returns (uint256) {
        return _balances[account] * _index() / 100;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount * 100 / _index());
    }

    function _index() private view returns (uint256) {
        return 100 + (block.timestamp - _since) / 1 days;
    }
}
