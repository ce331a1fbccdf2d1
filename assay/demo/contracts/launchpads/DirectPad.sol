// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IRouter, PadToken} from "./CurvePad.sol";

/// A platform without a curve: every token begins in an ordinary pool, nine tenths of it there.
/// It keeps no registry; its event is the only trace.
contract DirectPad {
    event TokenLaunched(address indexed token, address indexed creator, uint256 seeded);

    IRouter private immutable _router;

    constructor(IRouter router) {
        _router = router;
    }

    function launch(string calldata name, string calldata symbol)
        external
        payable
        returns (address)
    {
        PadToken token = new PadToken(name, symbol);
        uint256 seeded = token.totalSupply() / 10 * 9;
        token.approve(address(_router), seeded);
        _router.addLiquidityETH{value: msg.value}(
            address(token), seeded, 0, 0, address(0xdead), block.timestamp
        );
        token.transfer(msg.sender, token.totalSupply() - seeded);
        emit TokenLaunched(address(token), msg.sender, seeded);
        return address(token);
    }
}
