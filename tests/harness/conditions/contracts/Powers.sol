// SPDX-License-Identifier: Apache-2.0
// Tokens with powers: dead, bounded or out of reach, each with the trap that looks like it.
pragma solidity ^0.8.24;

import {Erc20} from "zoo/base/Erc20.sol";
import {Owned} from "zoo/base/Owned.sol";

/// A switch that the owner opens once, and a list.
abstract contract Switched is Owned {
    bool public open = true;
    mapping(address => bool) public blocked;

    function block_(address account, bool yes) external onlyOwner {
        blocked[account] = yes;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(open && !blocked[from], "closed");
        _move(from, to, amount);
    }
}

/// The owner can stop trades at any time; renounced, nobody can.
contract PausedToken is Switched {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setOpen(bool yes) external onlyOwner {
        open = yes;
    }
}

/// Trades can only be opened, and are open.
contract OpenOnceToken is Owned {
    bool public open = true;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function enableTrading() external onlyOwner {
        open = true;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(open, "closed");
        _move(from, to, amount);
    }
}

/// Renounced like the others, but a former owner comes back when a lock runs out.
contract ComesBackToken is Switched {
    address private _previous;
    uint256 private _until;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setOpen(bool yes) external onlyOwner {
        open = yes;
    }

    function lock(uint256 time) external onlyOwner {
        _previous = owner;
        owner = address(0);
        _until = block.timestamp + time;
    }

    function unlock() external {
        require(msg.sender == _previous && block.timestamp > _until);
        owner = _previous;
    }
}

/// Holders burn their own tokens, or what they were allowed to.
contract BurnableToken is Erc20 {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function burn(uint256 amount) external {
        _burn(msg.sender, amount);
    }

    function burnFrom(address account, uint256 amount) external {
        _spend(account, amount);
        _burn(account, amount);
    }

    function _burn(address account, uint256 amount) internal {
        require(_balances[account] >= amount, "balance");
        unchecked {
            _balances[account] -= amount;
            totalSupply -= amount;
        }
        emit Transfer(account, address(0), amount);
    }
}

/// The same, where the owner burns anybody's.
contract BurnsOthersToken is Owned {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function burn(address account, uint256 amount) external onlyOwner {
        require(_balances[account] >= amount, "balance");
        unchecked {
            _balances[account] -= amount;
            totalSupply -= amount;
        }
        emit Transfer(account, address(0), amount);
    }
}

/// The owner mints until minting is finished for good.
contract FinishedMintToken is Owned {
    bool public finished;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function mint(address to, uint256 amount) external onlyOwner {
        require(!finished, "finished");
        _issue(to, amount);
    }

    function finish() external onlyOwner {
        finished = true;
    }
}

/// The same, and what is finished can begin again.
contract ResumedMintToken is Owned {
    bool public finished;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function mint(address to, uint256 amount) external onlyOwner {
        require(!finished, "finished");
        _issue(to, amount);
    }

    function finish() external onlyOwner {
        finished = true;
    }

    function resume() external onlyOwner {
        finished = false;
    }
}

/// Minting begins on a date; no trade depends on the clock.
contract LaterMintToken is Owned {
    uint256 public from = block.timestamp + 365 days;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function mint(address to, uint256 amount) external onlyOwner {
        require(block.timestamp >= from, "early");
        _issue(to, amount);
    }
}

/// A gift binds those that take it: they cannot sell an hour later.
contract GiftToken is Owned {
    mapping(address => uint256) public claimed;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function claim() external {
        claimed[msg.sender] = block.timestamp;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 at = claimed[from];
        require(at == 0 || block.timestamp < at + 1 hours, "late");
        _move(from, to, amount);
    }
}

interface IPaused {
    function setOpen(bool yes) external;
}

/// Answers like a multisig; one account has its say.
contract FakeMultisig {
    address private immutable _master = msg.sender;

    function getThreshold() external pure returns (uint256) {
        return 3;
    }

    function getOwners() external pure returns (address[] memory owners) {
        owners = new address[](5);
    }

    function setOpen(address token, bool yes) external {
        require(msg.sender == _master);
        IPaused(token).setOpen(yes);
    }
}

/// Calls nothing, so that what it owns is nobody's.
contract Grave {
    function getThreshold() external pure returns (uint256) {
        return 3;
    }
}

/// A fee on sales, in percent, that the owner sets.
abstract contract Fees is Owned {
    uint256 public fee = 1;
    uint256 public extra = 1;

    function _transfer(address from, address to, uint256 amount) internal override {
        uint256 taken = amount * (fee + extra) / 100;
        _move(from, owner, taken);
        _move(from, to, amount - taken);
    }
}

/// At most five percent in all.
contract BoundedFeeToken is Fees {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setFees(uint256 a, uint256 b) external onlyOwner {
        require(a + b <= 5, "fee");
        fee = a;
        extra = b;
    }
}

/// The same sum, which wraps.
contract WrappingFeeToken is Fees {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setFees(uint256 a, uint256 b) external onlyOwner {
        unchecked {
            require(a + b <= 5, "fee");
        }
        fee = a;
        extra = b;
    }
}

/// It can only be lowered.
contract LoweredFeeToken is Fees {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function lower(uint256 a) external onlyOwner {
        require(a <= fee, "fee");
        fee = a;
    }
}

/// It can only be lowered, from where another function raised it.
contract RaisedFeeToken is Fees {
    constructor(string memory n, string memory s) Erc20(n, s) {}

    function lower(uint256 a) external onlyOwner {
        require(a <= fee, "fee");
        fee = a;
    }

    function reset() external onlyOwner {
        fee = 90;
    }
}

/// The bound is a number that the owner sets too.
contract MovedBoundToken is Fees {
    uint256 public most = 5;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setMost(uint256 a) external onlyOwner {
        most = a;
    }

    function setFee(uint256 a) external onlyOwner {
        require(a <= most, "fee");
        fee = a;
    }
}

/// A cap on transfers that the owner sets, but not below one percent of the supply.
contract BoundedCapToken is Owned {
    uint256 public cap = SUPPLY / 50;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setCap(uint256 amount) external onlyOwner {
        require(amount >= totalSupply / 100, "cap");
        cap = amount;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(amount <= cap || from == owner || to == owner, "capped");
        _move(from, to, amount);
    }
}

/// The same in thousandths, with a bound that lets it fall to one of them.
contract LowCapToken is Owned {
    uint256 public cap = SUPPLY / 50;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setCap(uint256 share) external onlyOwner {
        require(share >= 1, "cap");
        cap = totalSupply * share / 1000;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(amount <= cap || from == owner || to == owner, "capped");
        _move(from, to, amount);
    }
}

/// A bounded fee, and a mode in which the owner gets all of a sale.
contract ModeFeeToken is Owned {
    uint256 public fee = 1;
    bool public mode;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setFee(uint256 a) external onlyOwner {
        require(a <= 5, "fee");
        fee = a;
    }

    function setMode(bool a) external onlyOwner {
        mode = a;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (mode && from != owner) {
            _move(from, owner, amount);
            return;
        }
        uint256 taken = amount * fee / 100;
        _move(from, owner, taken);
        _move(from, to, amount - taken);
    }
}

/// The same, where the fee itself names the mode.
contract MagicFeeToken is Owned {
    uint256 public fee = 1;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setFee(uint256 a) external onlyOwner {
        require(a <= 5, "fee");
        fee = a;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        if (fee == 4 && from != owner) {
            _move(from, owner, amount);
            return;
        }
        uint256 taken = amount * fee / 100;
        if (taken > 0) _move(from, owner, taken);
        _move(from, to, amount - taken);
    }
}

/// Whoever comes first sets the supply up, by an initializer with a version and a lock.
contract SetUpOnceToken is Erc20 {
    uint8 private _version;
    bool private _isWithin;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    modifier initializer() {
        bool isFirst = !_isWithin;
        bool isNew = isFirst && _version == 0;
        bool isBeingMade = address(this).code.length == 0 && _version == 1;
        require(isNew || isBeingMade, "set up");
        _version = 1;
        if (isFirst) _isWithin = true;
        _;
        if (isFirst) _isWithin = false;
    }

    function setUp(address to, uint256 amount) external initializer {
        _issue(to, amount);
    }
}

/// An owner that shares its slot with a switch that each trade writes.
contract PackedOwnerToken is Erc20 {
    bool private _isBusy;
    address private _boss = msg.sender;
    bool public open = true;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setOpen(bool yes) external {
        require(msg.sender == _boss, "boss");
        open = yes;
    }

    function renounceOwnership() external {
        require(msg.sender == _boss, "boss");
        _boss = address(0);
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(open && !_isBusy, "closed");
        _isBusy = true;
        _move(from, to, amount);
        _isBusy = false;
    }
}

/// Roles that their members give, and give up.
contract RoleMintToken is Erc20 {
    mapping(bytes32 role => mapping(address member => bool)) public hasRole;

    constructor(string memory n, string memory s) Erc20(n, s) {
        hasRole[0][msg.sender] = true;
        hasRole["mint"][msg.sender] = true;
    }

    function grantRole(bytes32 role, address member) external {
        require(hasRole[0][msg.sender], "role");
        hasRole[role][member] = true;
    }

    function renounceRole(bytes32 role) external {
        hasRole[role][msg.sender] = false;
    }

    function mint(address to, uint256 amount) external {
        require(hasRole["mint"][msg.sender], "role");
        _issue(to, amount);
    }
}

/// Sales are refused once two names of the owner's mean the same account.
contract TwoNamesToken is Owned {
    address private _first;
    address private _second;

    constructor(string memory n, string memory s) Erc20(n, s) {}

    function setFirst(address account) external onlyOwner {
        _first = account;
    }

    function setSecond(address account) external onlyOwner {
        _second = account;
    }

    function _transfer(address from, address to, uint256 amount) internal override {
        require(to != _first || to != _second, "named");
        _move(from, to, amount);
    }
}
