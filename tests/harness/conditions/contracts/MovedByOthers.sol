// SPDX-License-Identifier: Apache-2.0
// Tokens whose sales hang on state that others move, each trap with its honest double.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

interface ICoin {
    function balanceOf(address) external view returns (uint256);
}

interface IPair is ICoin {
    function swap(uint256, uint256, address, bytes calldata) external;
    function allowance(address, address) external view returns (uint256);
    function token0() external view returns (address);
    function token1() external view returns (address);
    function getReserves() external view returns (uint112, uint112, uint32);
}

/// Refuses sales into an address that its owner names.
contract NamedPoolToken is Traded {
    address public oldPool = address(1);

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function act(address who) external onlyOwner {
        oldPool = who;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != oldPool, "moved");
        _move(from, to, amount);
    }
}

/// Taxes transfers to an address that its owner names nearly whole.
contract NamedTaxToken is Traded {
    address public feePool = address(1);

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function act(address who) external onlyOwner {
        feePool = who;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = to == feePool ? (amount * 95) / 100 : 0;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

/// Honest: the owner names the pool whose trades pay three percent.
contract NamedFeeToken is Traded {
    address public feePool = address(1);

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function act(address who) external onlyOwner {
        feePool = who;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = to == feePool ? (amount * 3) / 100 : 0;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

/// Nobody sells while an account that anybody can send tokens to has one.
contract BurntSwitchToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || _balances[address(0xdEaD)] == 0, "closed");
        _move(from, to, amount);
    }
}

/// Honest: largest transfers are a share of the supply that is not burnt.
contract BurntShareToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 circulating = totalSupply - _balances[address(0xdEaD)];
        require(_isOwner(from, to) || amount <= circulating / 20, "too much");
        _move(from, to, amount);
    }
}

/// Callers of a function get a note that their sales read.
abstract contract Claimable is Traded {
    mapping(address => bool) internal _hasClaimed;

    function claim() external {
        _hasClaimed[msg.sender] = true;
    }
}

/// Callers of a function cannot sell once tokens are burnt.
contract ClaimedSwitchToken is Claimable {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (_hasClaimed[from]) require(_balances[address(0xdEaD)] == 0, "closed");
        _move(from, to, amount);
    }
}

/// Honest: callers of a function may transfer more than a share of what is not burnt.
contract ClaimedShareToken is Claimable {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 circulating = totalSupply - _balances[address(0xdEaD)];
        if (!_hasClaimed[from]) require(_isOwner(from, to) || amount <= circulating / 20, "much");
        _move(from, to, amount);
    }
}

/// An approval of LP tokens stops all sales.
contract ApprovalSwitchToken is Traded {
    address private immutable _keeper = msg.sender;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || IPair(pair).allowance(_keeper, address(1)) == 0, "closed");
        _move(from, to, amount);
    }
}

/// Honest: the pool's reserves decide what it remembers of a sale.
contract ReserveReaderToken is Traded {
    uint256 public high;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) {
            (uint112 one,,) = IPair(pair).getReserves();
            if (one > high) high = one;
        }
        _move(from, to, amount);
    }
}

/// Sales pay a fee, and nearly all once others have bought half of what the pool had.
abstract contract PricedFeeToken is Traded {
    uint256 public immutable usual;
    uint256 public immutable later;

    constructor(uint256 usual_, uint256 later_) {
        usual = usual_;
        later = later_;
    }

    function _isLow() private view returns (bool) {
        (uint112 one, uint112 other,) = IPair(pair).getReserves();
        uint256 left = IPair(pair).token0() == address(this) ? one : other;
        return left < totalSupply / 2;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = to == pair && from != owner ? (amount * (_isLow() ? later : usual)) / 100 : 0;
        if (fee > 0) _move(from, address(0xdEaD), fee);
        _move(from, to, amount - fee);
    }
}

contract PriceTaxToken is PricedFeeToken {
    constructor(string memory n, string memory s, address p)
        Erc20(n, s)
        Traded(p)
        PricedFeeToken(2, 95)
    {}
}

/// High from the start, and no higher for what others do.
contract HighTaxToken is PricedFeeToken {
    constructor(string memory n, string memory s, address p)
        Erc20(n, s)
        Traded(p)
        PricedFeeToken(61, 60)
    {}
}

/// Honest: the fee falls with the pool.
contract PriceFeeToken is PricedFeeToken {
    constructor(string memory n, string memory s, address p)
        Erc20(n, s)
        Traded(p)
        PricedFeeToken(2, 1)
    {}
}

/// Sells a hundredth of the supply into the pool within each sale, while it has some.
contract SellsItsFeesToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256 amount) private {
        (uint256 here, uint256 there,) = IPair(pair).getReserves();
        bool isFirst = IPair(pair).token0() == address(this);
        if (!isFirst) (here, there) = (there, here);
        _move(address(this), pair, amount);
        uint256 out = (amount * 997 * there) / (here * 1000 + amount * 997);
        IPair(pair).swap(isFirst ? 0 : out, isFirst ? out : 0, owner, "");
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 part = totalSupply / 100;
        if (to == pair && from != owner && _balances[address(this)] >= part) _sell(part);
        _move(from, to, amount);
    }
}

/// Coins of the pool that anybody sends to the token stop all sales.
contract DustSwitchToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _coin() internal view returns (address) {
        address one = IPair(pair).token0();
        return one == address(this) ? IPair(pair).token1() : one;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || ICoin(_coin()).balanceOf(address(this)) == 0, "closed");
        _move(from, to, amount);
    }
}

/// Honest: counts the sales that find coins of the pool in the token.
contract DustCounterToken is Traded {
    uint256 public found;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) {
            address one = IPair(pair).token0();
            address coin = one == address(this) ? IPair(pair).token1() : one;
            if (ICoin(coin).balanceOf(address(this)) > 0) found = 1;
        }
        _move(from, to, amount);
    }
}

/// Wallets with code cannot sell, as those that delegate by EIP-7702.
contract NoWalletCodeToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || from.code.length == 0, "robots");
        _move(from, to, amount);
    }
}

/// Honest: remembers that a wallet has code.
contract WalletCodeToken is Traded {
    uint256 public robots;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from.code.length > 0) robots = 1;
        _move(from, to, amount);
    }
}

/// A count of one byte overflows after some sales.
contract NarrowCountToken is Traded {
    uint8 private _sales;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) _sales += 40;
        _move(from, to, amount);
    }
}

/// Honest: a count that no number of sales overflows.
contract WideCountToken is Traded {
    uint64 private _sales;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) _sales += 40;
        _move(from, to, amount);
    }
}

/// The tax on sales grows with their number.
contract RisingTaxToken is Traded {
    uint256 private _sales;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee;
        if (to == pair && from != owner) {
            uint256 cube = _sales * _sales * _sales;
            fee = (amount * cube) / (cube + 9);
            ++_sales;
        }
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

/// Honest: the tax on sales falls with their number.
contract FallingTaxToken is Traded {
    uint256 private _sales;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee;
        if (to == pair && from != owner) {
            fee = amount / (50 + _sales);
            ++_sales;
        }
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}

/// Nobody sells whose balance ends in certain bits, which a gift sees to.
contract OddBalanceToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || _balances[from] & 0xffff != 0xdead, "odd");
        _move(from, to, amount);
    }
}

/// Moves the tokens and returns false once its owner has a mind to: routers then refuse.
contract SaysNoToken is Traded {
    uint256 private _switch;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function act(address who) external onlyOwner {
        _switch = uint160(who);
    }

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        _spend(from, amount);
        _move(from, to, amount);
        return to != pair || _switch == 0;
    }
}

/// Shows the pool half of its balance once the owner has switched it on.
contract HalfShownToken is Traded {
    uint256 private _switch;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function act(address who) external onlyOwner {
        _switch = uint160(who);
    }

    function balanceOf(address account) external view override returns (uint256) {
        if (_switch != 0 && account == pair) return _balances[account] / 2;
        return _balances[account];
    }
}

/// Refuses sales once a constant account holds tokens. Optimisers leave only the hash of its key.
contract ConstantHolderToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair) require(_balances[0x1111222233334444555566667777888899990000] == 0, "closed");
        _move(from, to, amount);
    }
}

/// Pays a fee to a constant account, whatever that holds.
contract ConstantFeeToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = amount / 100;
        _move(from, 0x1111222233334444555566667777888899990000, fee);
        _move(from, to, amount - fee);
    }
}

/// Refuses sales once others have sold: the pool then holds much more than at first.
contract FullPoolToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != pair || _balances[pair] < SUPPLY * 9 / 10, "full");
        _move(from, to, amount);
    }
}

/// Honest: a fee is smaller then.
contract FullPoolFeeToken is Traded {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = to == pair && _balances[pair] < SUPPLY * 9 / 10 ? amount / 100 : 0;
        _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}
