// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "base/Erc20.sol";
import {ERC20} from "openzeppelin-5/token/ERC20/ERC20.sol";
import {ERC1363} from "openzeppelin-5/token/ERC20/extensions/ERC1363.sol";
import {ERC20Burnable} from "openzeppelin-5/token/ERC20/extensions/ERC20Burnable.sol";
import {ERC20Permit} from "openzeppelin-5/token/ERC20/extensions/ERC20Permit.sol";

/// One function moves, mints and burns, by a zero address for the side that is missing.
abstract contract Updated is Erc20 {
    function _transfer(address from, address to, uint256 amount) internal virtual override {
        require(from != address(0), "from");
        require(to != address(0), "to");
        _update(from, to, amount);
    }

    function _update(address from, address to, uint256 amount) internal virtual {
        if (from == address(0)) {
            totalSupply += amount;
        } else {
            require(_balances[from] >= amount, "balance");
            unchecked {
                _balances[from] -= amount;
            }
        }
        if (to == address(0)) {
            unchecked {
                totalSupply -= amount;
            }
        } else {
            unchecked {
                _balances[to] += amount;
            }
        }
        emit Transfer(from, to, amount);
    }
}

contract SoundUpdate is Updated {
    constructor(string memory n, string memory s) Erc20(n, s) {}
}

/// OpenZeppelin's token, large enough for its paths to be merged.
contract Library is ERC20Burnable, ERC20Permit, ERC1363 {
    constructor(string memory n, string memory s) ERC20(n, s) ERC20Permit(n) {
        _mint(msg.sender, 1_000_000 ether);
    }
}

/// The same question is asked twice, and answered in another way by what is stored between.
contract ChangedAnswer is Updated {
    mapping(address => bool) private _isLate;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function collect(uint256 amount) external {
        require(!_isLate[msg.sender], "late");
        _isLate[msg.sender] = amount > 1;
        if (_isLate[msg.sender]) _update(address(0), msg.sender, amount);
        else _update(msg.sender, address(this), amount);
        _isLate[msg.sender] = false;
    }
}

/// Zero addresses are refused for another account than the one that decides.
contract OtherZero is Updated {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function send(address from, address to, uint256 amount) external {
        require(from == address(0) || from == msg.sender, "from");
        require(to != address(0), "to");
        _update(from, to, amount);
    }
}
