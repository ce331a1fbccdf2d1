// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface Router {
    function swapExactETHForTokensSupportingFeeOnTransferTokens(
        uint256 least,
        address[] calldata path,
        address to,
        uint256 deadline
    ) external payable;
}

interface Token {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
}

/// Buys one token for several wallets in one transaction, as sellers of bundles do.
contract MultiBuyer {
    function buyForEach(Router router, address[] calldata path, address[] calldata wallets)
        external
        payable
    {
        for (uint256 at = 0; at < wallets.length; ++at) {
            buy(router, path, wallets[at], msg.value / wallets.length);
        }
    }

    function buyAndSpread(Router router, address[] calldata path, address[] calldata wallets)
        external
        payable
    {
        buy(router, path, address(this), msg.value);
        Token token = Token(path[path.length - 1]);
        uint256 share = token.balanceOf(address(this)) / wallets.length;
        for (uint256 at = 0; at < wallets.length; ++at) {
            token.transfer(wallets[at], share);
        }
    }

    function buy(Router router, address[] calldata path, address to, uint256 value) private {
        router.swapExactETHForTokensSupportingFeeOnTransferTokens{value: value}(
            0, path, to, type(uint256).max
        );
    }
}
