// SPDX-License-Identifier: Apache-2.0
// Tokens whose sales overflow, divide by zero or never end once others have acted, each with its honest double.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

/// What tests call before a trader sells.
abstract contract Open is Traded {
    uint256 public mood;
    uint256 public other;
    uint256 public seen;

    function feel(uint256 value) external {
        mood = value;
        other = value;
    }

    function burn(uint256 amount) external {
        _balances[msg.sender] -= amount;
        totalSupply -= amount;
        emit Transfer(msg.sender, address(0), amount);
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to == pair && from != owner) _sell(amount);
        _move(from, to, amount);
    }

    function _sell(uint256 amount) internal virtual;
}

/// A checked difference with what a constant account holds.
contract HeldDifferenceToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256) internal override {
        seen = 1 ether - _balances[0x1111222233334444555566667777888899990000];
    }
}

/// Honest: checked sums and differences of amounts, balances and their total.
contract HeldTotalToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256 amount) internal override {
        uint256 left = totalSupply - _balances[0x1111222233334444555566667777888899990000];
        seen = (left + amount) * 3 / 100;
    }
}

/// A checked product of two numbers that anybody sets.
contract OpenProductToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256) internal override {
        seen = mood * other;
    }
}

/// Honest: it remembers what anybody sets.
contract OpenRecordToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256) internal override {
        unchecked {
            seen += mood;
        }
    }
}

/// A bound like that of a type, for a number that anybody sets.
contract OpenTypeToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256) internal override {
        require(mood < 2 ** 40, "mood");
        seen = 1;
    }
}

/// A difference with the supply, which any holder burns.
contract SupplyDifferenceToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256) internal override {
        seen = totalSupply - 999_999 ether;
    }
}

/// A largest sale that a holder's burn makes zero.
contract SupplyCapToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256 amount) internal override {
        require(amount <= (totalSupply - 999_999 ether) * 1_000_000, "cap");
        seen = 1;
    }
}

/// Honest: a largest sale that is a share of the supply.
contract SupplyShareToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256 amount) internal override {
        require(amount <= totalSupply / 20, "cap");
        seen = totalSupply - amount;
    }
}

/// A loop as long as anybody wants.
contract OpenLoopToken is Open {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _sell(uint256) internal override {
        uint256 sum;
        uint256 last = mood;
        unchecked {
            for (uint256 i; i < last; ++i) sum ^= uint256(keccak256(abi.encode(i, sum)));
        }
        seen = sum;
    }
}

/// Honest: a loop over a short list that its creator has filled.
contract ListLoopToken is Open {
    address[] private _listed;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {
        _listed.push(msg.sender);
        _listed.push(p);
    }

    function _sell(uint256) internal override {
        uint256 sum;
        for (uint256 i; i < _listed.length; ++i) sum += _balances[_listed[i]];
        seen = sum;
    }
}
