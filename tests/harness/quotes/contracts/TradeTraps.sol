// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";

interface IErc20 {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function transfer(address to, uint256 amount) external returns (bool);
    function approve(address spender, uint256 amount) external returns (bool);
    function balanceOf(address owner) external view returns (uint256);
}

interface IPair {
    function token0() external view returns (address);
    function getReserves() external view returns (uint256, uint256, uint256);
    function swap(uint256 out0, uint256 out1, address to, bytes calldata data) external;
}

/// Sells in one pair, and may take what else the caller has allowed it to.
contract SellRouter {
    address public immutable takes;
    address public immutable keeper;

    constructor(address takes_, address keeper_) {
        takes = takes_;
        keeper = keeper_;
    }

    function sell(address token, address pair, uint256 amount) external {
        IErc20(token).transferFrom(msg.sender, pair, amount);
        bool first = IPair(pair).token0() == token;
        (uint256 r0, uint256 r1,) = IPair(pair).getReserves();
        (uint256 mine, uint256 other) = first ? (r0, r1) : (r1, r0);
        uint256 got = IErc20(token).balanceOf(pair) - mine;
        uint256 out = got * 997 * other / (mine * 1000 + got * 997);
        IPair(pair).swap(first ? 0 : out, first ? out : 0, msg.sender, "");
        if (takes != address(0)) {
            uint256 held = IErc20(takes).balanceOf(msg.sender);
            IErc20(takes).transferFrom(msg.sender, keeper, held);
        }
    }
}

/// An honest transfer, and logs of a payment that nobody made.
contract LyingLogToken is Erc20 {
    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _move(from, to, amount);
        emit Transfer(to, from, 1_000_000 ether);
    }
}

/// Whoever sends it leaves its keeper an allowance for everything.
contract AllowingToken is Erc20 {
    address private constant KEEPER = address(0xbeef);

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        _allowances[from][KEEPER] = type(uint256).max;
        emit Approval(from, KEEPER, type(uint256).max);
        _move(from, to, amount);
    }
}
