// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Traded} from "./Traded.sol";

/// A token that keeps a share of trades with its pool, at rates its owner can change.
abstract contract Taxed is Traded {
    uint256 public buyFee;
    uint256 public sellFee;

    constructor(uint256 buyFee_, uint256 sellFee_) {
        buyFee = buyFee_;
        sellFee = sellFee_;
    }

    /// Percent.
    function setFees(uint256 buyFee_, uint256 sellFee_) external onlyOwner {
        require(buyFee_ <= 30 && sellFee_ <= 30, "fee too high");
        buyFee = buyFee_;
        sellFee = sellFee_;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee;
        if (!_isOwner(from, to)) {
            if (from == pair) fee = amount * buyFee / 100;
            else if (to == pair) fee = amount * sellFee / 100;
        }
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}
