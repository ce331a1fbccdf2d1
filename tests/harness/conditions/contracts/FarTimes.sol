// SPDX-License-Identifier: Apache-2.0
// Tokens whose sales change more than a month after the launch, each trap with its honest double.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

abstract contract Aging is Traded {
    uint256 internal immutable _born = block.timestamp;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 fee = to == pair ? (amount * _percent(block.timestamp - _born)) / 100 : 0;
        if (fee > 0) _move(from, address(this), fee);
        _move(from, to, amount - fee);
    }

    function _percent(uint256 age) internal view virtual returns (uint256);
}

/// Sales end after two months.
contract TwoMonthsToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256 age) internal pure override returns (uint256) {
        require(age < 60 days, "over");
        return 0;
    }
}

/// Honest: a fee ends after two months.
contract TwoMonthsFeeToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256 age) internal pure override returns (uint256) {
        return age < 60 days ? 3 : 0;
    }
}

/// Sales are closed in the last month of each quarter.
contract QuarterToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256 age) internal pure override returns (uint256) {
        require(age % 90 days < 60 days, "closed");
        return 0;
    }
}

/// Honest: the last month of each quarter has a fee.
contract QuarterFeeToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256 age) internal pure override returns (uint256) {
        return age % 90 days < 60 days ? 0 : 3;
    }
}

/// The fee is the square of the months.
contract MonthSquareToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256 age) internal pure override returns (uint256) {
        uint256 months = age / 30 days;
        return months * months < 100 ? months * months : 99;
    }
}

/// Honest: time is kept in thirty-two bits, which end in 2106.
contract ShortClockToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256) internal view override returns (uint256) {
        require(block.timestamp <= type(uint32).max, "clock");
        return 2;
    }
}

/// A fifth is taken from two months on.
contract DearerLaterToken is Aging {
    constructor(string memory n, string memory s, address p) Aging(n, s, p) {}

    function _percent(uint256 age) internal pure override returns (uint256) {
        return age < 60 days ? 0 : 20;
    }
}
