// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";

/// Tokens that take other amounts than the allowance is lowered by, and ones that only seem to.

/// The allowance for `gross` is lowered, and `gross - rebate`, which may be more, is taken.
contract Rebate is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function collect(address from, uint256 gross, uint256 rebate) external {
        _spend(from, gross);
        unchecked {
            uint256 net = gross - rebate;
            require(_balances[from] >= net, "balance");
            _balances[from] -= net;
            _balances[msg.sender] += net;
        }
    }
}

/// The allowance is lowered after the move, and not where tokens go to the token.
contract LateOnSomePaths is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        _move(from, to, amount);
        if (to != address(this)) _spend(from, amount);
        return true;
    }
}

/// No more than what another account has: the debit is not capped by the allowance.
contract CappedByOther is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        uint256 most = _balances[to];
        _spend(from, amount > most ? most : amount);
        _move(from, to, amount);
        return true;
    }
}

/// Amounts capped by the balance, by the allowance and by both, and an allowance lowered afterwards.
contract SoundAmounts is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function transferFrom(address from, address to, uint256 amount) external override returns (bool) {
        uint256 most = _balances[from];
        if (amount > most) amount = most;
        _move(from, to, amount);
        uint256 left = _allowances[from][msg.sender];
        require(left >= amount, "allowance");
        _allowances[from][msg.sender] = left - amount;
        return true;
    }

    function pull(address from, uint256 amount) external {
        uint256 cap = _allowances[from][msg.sender];
        if (amount > cap) amount = cap;
        _allowances[from][msg.sender] = cap - amount;
        _move(from, msg.sender, amount);
    }

    function pullAll(address from) external {
        uint256 cap = _allowances[from][msg.sender];
        uint256 have = _balances[from];
        uint256 amount = cap < have ? cap : have;
        _spend(from, amount);
        _move(from, msg.sender, amount);
    }
}

/// Tokens that one contract may burn, as it does for its callers on chains of the OP Stack.
abstract contract Bridged is Erc20 {
    function crosschainBurn(address from, uint256 amount) external {
        require(msg.sender == _bridge(), "bridge");
        _balances[from] -= amount;
        totalSupply -= amount;
        emit Transfer(from, address(0), amount);
    }

    function _bridge() internal pure virtual returns (address);
}

contract BridgedToken is Bridged {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _bridge() internal pure override returns (address) {
        return 0x4200000000000000000000000000000000000028;
    }
}

/// The address is another one, of the author's choice.
contract LookalikeBridge is Bridged {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function _bridge() internal pure override returns (address) {
        return 0x4200000000000000000000000000000000010028;
    }
}
