// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Owned} from "./base/Owned.sol";

/// Keeps 3 percent of every transfer, also from wallet to wallet.
contract TransferTaxToken is Owned {
    uint256 public feePercent = 3;

    constructor(string memory name_, string memory symbol_) Erc20(name_, symbol_) {}

    function setFee(uint256 percent) external onlyOwner {
        require(percent <= 10, "fee too high");
        feePercent = percent;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = from == owner || to == owner ? 0 : amount * feePercent / 100;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }
}
