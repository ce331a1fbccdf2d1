// SPDX-License-Identifier: Apache-2.0
// Tokens whose sales call contracts that are known, each that others can stop with its honest double.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Traded} from "zoo/base/Traded.sol";

/// Each sale of a buyer is followed by a call.
abstract contract Calling is Traded {
    address internal constant DEAD = 0x000000000000000000000000000000000000dEaD;
    address payable internal immutable _maker = payable(msg.sender);

    function _transfer(address from, address to, uint256 amount) internal virtual override {
        _move(from, to, amount);
        if (to == pair && from != owner) _called();
    }

    function _called() internal virtual;

    /// Sends shares of the pool, of which the contract has none.
    function _send(uint256 shares) internal {
        (bool ok,) = pair.call(abi.encodeWithSignature("transfer(address,uint256)", DEAD, shares));
        require(ok, "shares");
    }
}

/// The contract has no shares of the pool to send: burnt tokens are the number of them.
contract BurntArgumentToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _called() internal override {
        _send(_balances[DEAD]);
    }
}

/// The owner sets the number.
contract OwnersArgumentToken is Calling {
    uint256 internal _shares;

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function setShares(uint256 shares) external onlyOwner {
        _shares = shares;
    }

    function _called() internal override {
        _send(_shares);
    }
}

/// Honest: always none.
contract NoSharesToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _called() internal override {
        _send(0);
    }
}

/// Once tokens are burnt, the pool takes note of what it got before the router reads it.
contract SyncedSaleToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _called() internal override {
        if (_balances[DEAD] > 0) {
            (bool ok,) = pair.call(abi.encodeWithSignature("sync()"));
            ok;
        }
    }
}

/// Honest: it only reads the pool.
contract ReadSaleToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _called() internal override {
        if (_balances[DEAD] > 0) {
            (bool ok,) = pair.staticcall(abi.encodeWithSignature("getReserves()"));
            ok;
        }
    }
}

/// A function that only the contract itself calls pays the pool, until tokens are burnt.
contract OwnRelayToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function relay(uint256 amount) external {
        require(msg.sender == address(this), "own");
        _move(address(this), _balances[DEAD] > 0 ? DEAD : pair, amount);
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (to != pair || from == owner) return _move(from, to, amount);
        _move(from, address(this), amount);
        (bool ok,) = address(this).call(abi.encodeCall(this.relay, (amount)));
        ok;
    }

    function _called() internal override {}
}

/// A getter fails once tokens are burnt, and a sale calls it.
contract FailingGetterToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function allowance(address holder, address spender) external view override returns (uint256) {
        require(_balances[DEAD] == 0, "burnt");
        return _allowances[holder][spender];
    }

    function _called() internal override {
        require(this.allowance(DEAD, DEAD) == 0, "spent");
    }
}

/// Honest: the getter never fails.
contract OwnGetterToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function _called() internal override {
        require(this.decimals() < 255, "digits");
    }
}

/// Uses up the gas it gets, if anybody told it to.
contract Eater {
    bool internal _eats;

    function feel() external {
        _eats = true;
    }

    fallback() external {
        if (_eats) while (true) {}
    }
}

/// Sales call a contract with all gas, and ignore how that ends.
contract AllGasToken is Calling {
    Eater internal immutable _eater = new Eater();

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function feel(uint256) external {
        _eater.feel();
    }

    function _called() internal override {
        for (uint256 i; i < 3; i++) {
            (bool ok,) = address(_eater).call("");
            ok;
        }
    }
}

/// Honest: the callee gets too little gas to do anything.
contract LittleGasToken is Calling {
    Eater internal immutable _eater = new Eater();

    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    function feel(uint256) external {
        _eater.feel();
    }

    function _called() internal override {
        (bool ok,) = address(_eater).call{gas: 2300}("");
        ok;
    }
}

/// Each sale pays a coin out of what the contract has, until there is none.
contract CoinFundToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    receive() external payable {}

    function _called() internal override {
        (bool ok,) = _maker.call{value: 1}("");
        require(ok, "fund");
    }
}

/// Honest: it pays half of what there is.
contract CoinShareToken is Calling {
    constructor(string memory n, string memory s, address p) Erc20(n, s) Traded(p) {}

    receive() external payable {}

    function _called() internal override {
        (bool ok,) = _maker.call{value: address(this).balance / 2}("");
        require(ok, "share");
    }
}
