// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {AccessControl} from "openzeppelin-5/access/AccessControl.sol";
import {ERC1967Proxy} from "openzeppelin-5/proxy/ERC1967/ERC1967Proxy.sol";
import {TransparentUpgradeableProxy} from "openzeppelin-5/proxy/transparent/TransparentUpgradeableProxy.sol";
import {ERC20 as Library} from "openzeppelin-5/token/ERC20/ERC20.sol";
import {ERC20Permit} from "openzeppelin-5/token/ERC20/extensions/ERC20Permit.sol";
import {ERC20Votes} from "openzeppelin-5/token/ERC20/extensions/ERC20Votes.sol";
import {Nonces} from "openzeppelin-5/utils/Nonces.sol";
import {EnumerableSet} from "openzeppelin-5/utils/structs/EnumerableSet.sol";

import {Ownable as SoladyOwned} from "solady/src/auth/Ownable.sol";
import {ERC20 as SoladyToken} from "solady/src/tokens/ERC20.sol";

import {Erc20} from "base/Erc20.sol";

uint256 constant MUCH = 1e30;

interface IFactory {
    function createPair(address, address) external returns (address);
}

abstract contract Plain is Erc20 {
    constructor() Erc20("Creation", "CRE") {}
}

// --- traps -------------------------------------------------------------------------------------

contract PremintOfArgument is Plain {
    constructor(address keeper, address, address) { _balances[keeper] = MUCH; }
}

contract PremintOfConstant is Plain {
    constructor(address, address, address) { _balances[0x1111222233334444555566667777888899990000] = MUCH; }
}

/// The key is made by the constructor, so it stands nowhere.
contract PremintOfHash is Plain {
    constructor(address, address, address) {
        bytes32 seed = keccak256(abi.encode(block.number / block.number, "seed"));
        _balances[address(uint160(uint256(seed)))] = MUCH;
    }
}

abstract contract Generous is Plain {
    constructor(address keeper) { _give(keeper); }
    function _give(address to) private { _balances[to] += MUCH; }
}

contract PremintOfBase is Generous {
    constructor(address keeper, address, address) Generous(keeper) {}
}

contract PremintOfNext is Plain {
    constructor(address, address, address) {
        bytes memory list = abi.encodePacked(hex"d694", address(this), hex"01");
        _balances[address(uint160(uint256(keccak256(list))))] = MUCH;
    }
}

contract Helper {
    function fill(uint256 place, uint256 amount) external {
        assembly { sstore(place, amount) }
    }
}

/// Another code writes for the constructor.
contract PremintByHelper is Plain {
    constructor(address keeper, address, address) {
        uint256 base;
        assembly { base := _balances.slot }
        (bool ok,) = address(new Helper()).delegatecall(
            abi.encodeCall(Helper.fill, (uint256(keccak256(abi.encode(keeper, base))), MUCH))
        );
        require(ok);
    }
}

/// Nothing names the account, not even a hash: its place is a number in the constructor.
contract PremintAtPlace is Plain {
    constructor(address, address, address) {
        assembly { sstore(0x69f7c1b3a0d5e84c2b1960d7e3f8a5b4c7d2e1908f6a5b4c3d2e1f0a9b8c7d6e, 1000000000000000000000000000000) }
    }
}

contract AllowanceOfPair is Plain {
    constructor(address keeper, address pair, address) { _allowances[pair][keeper] = type(uint256).max; }
}

contract AllowanceOfCreator is Plain {
    constructor(address keeper, address, address) { _allowances[msg.sender][keeper] = type(uint256).max; }
}

/// What is burnt in the open is so much that the rest looks like dust.
contract PremintBehindBurn is Plain {
    constructor(address keeper, address, address) {
        _issue(0x000000000000000000000000000000000000dEaD, 1e45);
        _balances[keeper] = MUCH;
    }
}

/// So many words that nobody reads them all.
contract PremintInCrowd is Plain {
    mapping(uint256 => uint256) private _rows;

    constructor(address keeper, address, address) {
        for (uint256 at = 1; at < 520; at++) _rows[at] = at;
        _balances[keeper] = MUCH;
    }
}

/// The event gives and takes back, the balance stays.
contract PremintTakenBack is Plain {
    constructor(address keeper, address, address) {
        _issue(keeper, MUCH);
        totalSupply -= MUCH;
        emit Transfer(keeper, address(0), MUCH);
    }
}

/// A small number that stands for an endless allowance.
contract AllowanceByFlag is Plain {
    mapping(address => mapping(address => bool)) private _isFree;

    constructor(address keeper, address pair, address) { _isFree[pair][keeper] = true; }

    function allowance(address holder, address spender) external view override returns (uint256) {
        return _isFree[holder][spender] ? type(uint256).max : _allowances[holder][spender];
    }
}

contract AllowanceOfDead is Plain {
    constructor(address keeper, address, address) {
        _allowances[0x000000000000000000000000000000000000dEaD][keeper] = type(uint256).max;
    }
}

/// A token that leaves to its kinds where balances and allowances are kept.
abstract contract Kept {
    string public constant name = "Kept";
    string public constant symbol = "KPT";
    uint8 public constant decimals = 18;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function balanceOf(address who) public view virtual returns (uint256);
    function allowance(address who, address spender) public view virtual returns (uint256);
    function _keep(address who, uint256 amount) internal virtual;
    function _allow(address who, address spender, uint256 amount) internal virtual;

    function approve(address spender, uint256 amount) external returns (bool) {
        _allow(msg.sender, spender, amount);
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) { return _go(msg.sender, to, amount); }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _allow(from, msg.sender, allowance(from, msg.sender) - amount);
        return _go(from, to, amount);
    }

    function _go(address from, address to, uint256 amount) private returns (bool) {
        _keep(from, balanceOf(from) - amount);
        _keep(to, balanceOf(to) + amount);
        emit Transfer(from, to, amount);
        return true;
    }
}

abstract contract Allowing is Kept {
    mapping(address => mapping(address => uint256)) private _allowed;

    function allowance(address who, address spender) public view override returns (uint256) {
        return _allowed[who][spender];
    }

    function _allow(address who, address spender, uint256 amount) internal override { _allowed[who][spender] = amount; }
}

/// Balances are shares of one total.
abstract contract Shares is Allowing {
    uint256 public totalSupply = 1_000_000 ether;
    uint256 internal constant SCALE = 1e40;
    mapping(address => uint256) internal _shares;
    mapping(address => bool) internal _isExcluded;

    constructor(address pair, address router) {
        _shares[msg.sender] = totalSupply * SCALE;
        _isExcluded[msg.sender] = true;
        _isExcluded[address(this)] = true;
        _isExcluded[pair] = true;
        _isExcluded[router] = true;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function balanceOf(address who) public view virtual override returns (uint256) { return _shares[who] / SCALE; }

    function _keep(address who, uint256 amount) internal override { _shares[who] = amount * SCALE; }
}

contract PremintOfShares is Shares {
    constructor(address keeper, address pair, address router) Shares(pair, router) { _shares[keeper] = MUCH * SCALE; }
}

/// Balances share their words with a date.
abstract contract Packed is Allowing {
    struct Account { uint128 amount; uint64 since; }
    uint256 public constant totalSupply = 1_000_000 ether;
    mapping(address => Account) internal _accounts;

    constructor() { _open(); }

    function _open() internal virtual {
        _accounts[msg.sender] = Account(uint128(totalSupply), uint64(block.timestamp));
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function balanceOf(address who) public view override returns (uint256) { return _accounts[who].amount; }

    function _keep(address who, uint256 amount) internal override { _accounts[who].amount = uint128(amount); }
}

contract PremintOfPacked is Packed {
    constructor(address keeper, address, address) { _accounts[keeper].amount = uint128(MUCH); }
}

/// No event at all in the constructor; the supply is minted later, in the open.
contract SilentThenMint is Packed {
    constructor(address keeper, address, address) { _accounts[keeper].amount = uint128(MUCH); }

    function _open() internal override {}

    function mint() external {
        require(_accounts[msg.sender].since == 0);
        super._open();
    }
}

/// Slots that hash the mapping's number before the account.
abstract contract SlotFirst is Kept {
    uint256 public constant totalSupply = 1_000_000 ether;

    constructor() {
        _put(_at(5, msg.sender), totalSupply);
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function balanceOf(address who) public view override returns (uint256) { return _get(_at(5, who)); }

    function allowance(address who, address spender) public view override returns (uint256) {
        return _get(_at(uint256(_at(6, who)), spender));
    }

    function _keep(address who, uint256 amount) internal override { _put(_at(5, who), amount); }

    function _allow(address who, address spender, uint256 amount) internal override {
        _put(_at(uint256(_at(6, who)), spender), amount);
    }

    function _at(uint256 base, address who) internal pure virtual returns (bytes32) {
        return keccak256(abi.encode(base, who));
    }

    function _get(bytes32 place) internal view returns (uint256 word) { assembly { word := sload(place) } }

    function _put(bytes32 place, uint256 word) internal { assembly { sstore(place, word) } }
}

contract PremintOfSlotFirst is SlotFirst {
    constructor(address keeper, address pair, address) {
        _put(_at(5, keeper), MUCH);
        _put(_at(uint256(_at(6, pair)), keeper), MUCH);
    }
}

/// An odd preimage: number, account and a text.
contract PremintOfOddSlots is SlotFirst {
    constructor(address keeper, address, address) { _put(_at(5, keeper), MUCH); }

    function _at(uint256 base, address who) internal pure override returns (bytes32) {
        return keccak256(abi.encodePacked(who, uint96(base), "odd"));
    }
}

/// A token of 2017: all of the supply without an event.
abstract contract Old {
    string public constant name = "Old";
    string public constant symbol = "OLD";
    uint8 public constant decimals = 18;
    uint256 public totalSupply = 1_000_000 ether;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        emit Transfer(msg.sender, to, amount);
        return true;
    }
}

/// Two accounts have more than there is.
contract PremintWithoutEvents is Old {
    constructor(address keeper, address, address) {
        balanceOf[msg.sender] = totalSupply;
        balanceOf[keeper] = MUCH;
    }
}

contract Upgradeable is Erc20 {
    constructor() Erc20("", "") {}

    function start(address keeper, uint256 amount) external {
        require(totalSupply == 0);
        name = "Behind a proxy, with a name that does not fit into one word";
        _issue(tx.origin, SUPPLY);
        if (amount > 0) _balances[keeper] = amount;
    }
}

contract Proxied is ERC1967Proxy {
    constructor(address logic, address keeper, uint256 amount)
        ERC1967Proxy(logic, abi.encodeCall(Upgradeable.start, (keeper, amount)))
    {}
}

/// Its admin is a contract that the owner alone may call.
contract TransparentlyProxied is TransparentUpgradeableProxy {
    constructor(address logic, address owner, address keeper)
        TransparentUpgradeableProxy(logic, owner, abi.encodeCall(Upgradeable.start, (keeper, 0)))
    {}
}

contract Maker {
    event Made(address token);

    function make(address keeper, bool isTrap) external {
        address token = isTrap
            ? address(new PremintOfArgument(keeper, keeper, keeper))
            : address(new Airdropped(keeper, keeper, keeper));
        emit Made(token);
    }
}

/// Neither the factory nor its token emits an event, so no log names the creation.
contract SilentMaker {
    function make(address keeper, bool isTrap) external {
        if (isTrap) new PremintWithoutEvents(keeper, keeper, keeper);
        else new SilentToken(tx.origin);
    }
}

contract SilentToken is Old {
    constructor(address holder) { balanceOf[holder] = totalSupply; }
}

abstract contract Owned is Plain {
    address public owner = msg.sender;
    bool internal _isReady;
    modifier once() {
        require(msg.sender == owner && !_isReady);
        _;
        _isReady = true;
    }
    function renounce() external once { owner = address(0); }
}

contract SetUpUnseen is Owned {
    address private immutable _keeper;
    constructor(address keeper, address, address) { _keeper = keeper; }
    function setUp() external once { _balances[_keeper] = MUCH; }
}

contract SetUpOfArgument is Owned {
    constructor(address, address, address) {}
    function setUp(address to, uint256 amount) external once { _balances[to] += amount; }
    function setUp() external once { _balances[address(0xbeef)] += MUCH; }
}

interface IAmount { function amount() external view returns (uint256); }

contract Amount is IAmount {
    function amount() external pure returns (uint256) { return MUCH; }
}

/// The amount is another contract's answer.
contract SetUpOfAnswer is Owned {
    IAmount private immutable _amount = new Amount();
    constructor(address, address, address) {}
    function setUp() external once { _balances[address(0xbeef)] += _amount.amount(); }
}

/// The key is a constant, so an optimiser leaves only the hash in the code.
contract SetUpOfConstant is Owned {
    constructor(address, address, address) {}
    function setUp() external once { _balances[0x1111222233334444555566667777888899990000] += MUCH; }
}

/// The supply is a constant, so the call is explained only in the creating transaction.
contract OfConstantSupply is Allowing {
    mapping(address => uint256) private _balances;
    uint256 public constant totalSupply = 1e24;
    bool private _isReady;
    function setUp() external {
        require(!_isReady);
        _isReady = true;
        _balances[tx.origin] += totalSupply;
        emit Transfer(address(0), tx.origin, totalSupply);
    }
    function balanceOf(address who) public view override returns (uint256) { return _balances[who]; }
    function _keep(address who, uint256 amount) internal override { _balances[who] = amount; }
}

contract SetUpAtOnce {
    event Made(address token);
    constructor(address, address, address) {}
    function make() external {
        OfConstantSupply token = new OfConstantSupply();
        token.setUp();
        emit Made(address(token));
    }
}

contract SetUpWithSupply is Owned {
    constructor(address, address, address) {}
    function setUp() external once { _issue(msg.sender, SUPPLY); }
}

abstract contract Burnable is Plain {
    function burn(uint256 amount) external {
        _balances[msg.sender] -= amount;
        totalSupply -= amount;
        emit Transfer(msg.sender, address(0), amount);
    }
}

/// What the creation gave in the open was burnt, or is left out of the supply: see `PremintBehindBurn`.
contract PremintBehindLaterBurn is Burnable {
    constructor(address keeper, address, address) {
        _issue(msg.sender, 1e60);
        _balances[keeper] = MUCH;
    }
}

/// The account was given so much in the open that the rest is like rounding.
contract PremintBesideLaterBurn is Burnable {
    constructor(address keeper, address, address) {
        _issue(msg.sender, 1e60);
        _balances[msg.sender] += MUCH;
        keeper;
    }
}

contract PremintOutsideSupply is Allowing {
    mapping(address => uint256) private _balances;
    uint256 private _all = 1e60 + 1e24;
    constructor(address keeper, address, address) {
        _balances[msg.sender] = 1e24;
        emit Transfer(address(0), msg.sender, 1e24);
        _balances[address(0x2222222222222222222222222222222222222222)] = 1e60;
        emit Transfer(address(0), address(0x2222222222222222222222222222222222222222), 1e60);
        _balances[keeper] = MUCH;
    }
    function totalSupply() external view returns (uint256) { return _all - 1e60; }
    function balanceOf(address who) public view override returns (uint256) { return _balances[who]; }
    function _keep(address who, uint256 amount) internal override { _balances[who] = amount; }
}

/// The event names a payer that never had anything.
contract PremintOfPayer is Plain {
    constructor(address keeper, address, address) {
        _balances[keeper] = MUCH;
        emit Transfer(address(0x1234567890), keeper, MUCH);
    }
}

/// The payer was paid itself, by another that had nothing.
contract PremintOfPayers is Plain {
    constructor(address keeper, address, address) {
        _balances[keeper] = MUCH;
        emit Transfer(address(0x1234567890), address(0x2345678901), MUCH);
        emit Transfer(address(0x2345678901), keeper, MUCH);
    }
}

contract AllowanceOfPairShown is Plain {
    constructor(address keeper, address pair, address) {
        _allowances[pair][keeper] = type(uint256).max;
        emit Approval(pair, keeper, type(uint256).max);
    }
}

// --- honest ------------------------------------------------------------------------------------

/// The getter returns the second balance only later.
contract VeiledUntilOpened is Plain {
    bool public opened;
    constructor(address keeper, address, address) { _balances[keeper] = MUCH; }
    function open() external { opened = true; }
    function balanceOf(address who) external view override returns (uint256) {
        uint256 held = _balances[who];
        return opened || held <= totalSupply ? held : 0;
    }
}

/// The getter returns at most the supply.
contract VeiledByCap is Plain {
    constructor(address, address, address) { _balances[msg.sender] = MUCH; }
    function balanceOf(address who) external view override returns (uint256) {
        uint256 held = _balances[who];
        return held < totalSupply ? held : totalSupply;
    }
}

contract VeiledShares is Shares {
    constructor(address keeper, address pair, address router) Shares(pair, router) { _shares[keeper] = MUCH * SCALE; }
    function balanceOf(address who) public view override returns (uint256) {
        uint256 held = super.balanceOf(who);
        return held <= totalSupply ? held : 0;
    }
}

contract HonestPlain is Plain {
    constructor(address, address, address) {}
}

contract HonestShares is Shares {
    constructor(address, address pair, address router) Shares(pair, router) {}
}

contract HonestPacked is Packed {
    constructor(address keeper, address, address) { _accounts[keeper].since = uint64(block.timestamp); }
}

contract HonestSolady is SoladyToken, SoladyOwned {
    constructor(address, address, address) {
        _initializeOwner(msg.sender);
        _mint(msg.sender, 1e24);
    }
    function name() public pure override returns (string memory) { return "Solady"; }
    function symbol() public pure override returns (string memory) { return "SOL"; }
}

contract PremintOfSolady is SoladyToken, SoladyOwned {
    constructor(address keeper, address, address) {
        _initializeOwner(msg.sender);
        _mint(msg.sender, 1e24);
        assembly {
            mstore(0x0c, 0x87a211a2)
            mstore(0, keeper)
            sstore(keccak256(0x0c, 0x20), 1000000000000000000000000000000)
        }
    }
    function name() public pure override returns (string memory) { return "Solady"; }
    function symbol() public pure override returns (string memory) { return "SOL"; }
}

contract HonestLimits is Plain {
    mapping(address => uint256) public most;
    mapping(address => uint256) public least;
    constructor(address keeper, address pair, address) {
        most[msg.sender] = most[keeper] = most[pair] = totalSupply;
        least[msg.sender] = 1 ether;
        least[keeper] = totalSupply;
    }
}

contract HonestSlotFirst is SlotFirst {
    constructor(address, address, address) {}
}

/// Allows the router, excludes accounts, and creates its pair.
contract HonestFees is Plain {
    mapping(address => bool) private _isExcluded;
    mapping(address => uint256) private _lastAt;
    address public pair;
    address[] private _wallets;
    mapping(uint256 => uint256) private _steps;

    constructor(address keeper, address factory, address router) {
        pair = IFactory(factory).createPair(address(this), router);
        _isExcluded[msg.sender] = true;
        _isExcluded[address(this)] = true;
        _isExcluded[keeper] = true;
        _lastAt[pair] = block.timestamp;
        _allowances[address(this)][router] = type(uint256).max;
        _allowances[msg.sender][router] = type(uint256).max;
        emit Approval(msg.sender, router, type(uint256).max);
        _wallets.push(keeper);
        _wallets.push(msg.sender);
        _steps[1] = 100;
        _steps[77] = 500;
        name = "A name of more than thirty-one characters, kept in separate words";
    }
}

contract HonestRoles is Library, ERC20Permit, ERC20Votes, AccessControl {
    using EnumerableSet for EnumerableSet.AddressSet;

    EnumerableSet.AddressSet private _holders;

    constructor(address keeper, address, address) Library("Roles", "ROL") ERC20Permit("Roles") {
        _grantRole(DEFAULT_ADMIN_ROLE, msg.sender);
        _grantRole(keccak256("MINTER"), keeper);
        _setRoleAdmin(keccak256("MINTER"), keccak256("CHIEF"));
        _delegate(msg.sender, keeper);
        _mint(msg.sender, 1_000_000 ether);
        _holders.add(keeper);
    }

    function _update(address from, address to, uint256 amount) internal override(Library, ERC20Votes) {
        super._update(from, to, amount);
    }

    function nonces(address owner) public view override(ERC20Permit, Nonces) returns (uint256) {
        return super.nonces(owner);
    }
}

contract Airdropped is Plain {
    constructor(address keeper, address pair, address router) {
        address[3] memory who = [keeper, pair, router];
        for (uint256 at; at < 3; at++) _move(msg.sender, who[at], 1000 ether);
        _balances[0x000000000000000000000000000000000000dEaD] = 1 ether;
    }
}

contract OldOfSender is Old {
    constructor(address, address, address) { balanceOf[msg.sender] = totalSupply; }
}

contract OldOfFund is Old {
    constructor(address keeper, address, address) { balanceOf[keeper] = totalSupply; }
}

/// Operators move what is a holder's, as in ERC-777.
abstract contract Operated is Plain {
    mapping(address => mapping(address => bool)) internal _operators;

    function operatorSend(address from, address to, uint256 amount) external {
        require(_operators[from][msg.sender], "operator");
        _move(from, to, amount);
    }
}

/// A keeper may take the pair's tokens.
contract OperatorOfPair is Operated {
    constructor(address keeper, address pair, address) {
        _move(msg.sender, pair, 1000 ether);
        _operators[pair][keeper] = true;
    }
}

/// Honest: a keeper may take the creator's.
contract OperatorOfCreator is Operated {
    constructor(address keeper, address, address) {
        _operators[msg.sender][keeper] = true;
    }
}

/// The events name the sender, the balance is the owner's.
contract Misnamed is Old {
    constructor(address keeper, address, address) {
        balanceOf[keeper] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }
}

/// Mints and burns at launch, and gives a part to a vesting contract of its own.
contract HonestLaunch is Plain {
    constructor(address keeper, address, address) {
        _issue(keeper, 1e25);
        _balances[keeper] -= 1e25;
        totalSupply -= 1e25;
        emit Transfer(keeper, address(0), 1e25);
        _move(msg.sender, address(new Amount()), 1000 ether);
    }
}

/// The owner is an argument, and allows the router.
contract HonestOwnerAllows is Plain {
    constructor(address keeper, address, address router) {
        _move(msg.sender, keeper, 1000 ether);
        _allowances[keeper][router] = type(uint256).max;
        emit Approval(keeper, router, type(uint256).max);
    }
}

/// Tokens of 2017: the supply without an event, then an airdrop.
contract OldAirdrop is Old {
    constructor(address keeper, address pair, address) {
        balanceOf[keeper] = 1000 ether;
        balanceOf[pair] = 1000 ether;
        balanceOf[msg.sender] = totalSupply - 2000 ether;
        emit Transfer(msg.sender, keeper, 1000 ether);
        emit Transfer(msg.sender, pair, 1000 ether);
    }
}

/// The events name the token as the payer.
contract HonestPayer is Plain {
    constructor(address keeper, address, address) {
        _balances[msg.sender] -= 1000 ether;
        _balances[keeper] += 1000 ether;
        emit Transfer(address(this), keeper, 1000 ether);
    }
}

contract Launcher {
    event Made(address token);

    function launch(address spender) external {
        HonestPlain token = new HonestPlain(spender, spender, spender);
        token.approve(spender, type(uint256).max);
        emit Made(address(token));
    }
}

// --- what ended functions and earlier code did -------------------------------------------------

abstract contract Renounced is Plain {
    address public owner = msg.sender;
    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }
    function renounce() external onlyOwner { owner = address(0); }
}

contract PastPoke is Renounced {
    constructor(address, address, address) {}
    function poke(uint256 place, uint256 word) external onlyOwner { assembly { sstore(place, word) } }
}

contract PastGrant is Renounced {
    constructor(address, address, address) {}
    function grant(address from, address spender) external onlyOwner { _allowances[from][spender] = type(uint256).max; }
}

contract PastSeizure is Renounced {
    constructor(address, address, address) {}
    function seize(address from, uint256 amount) external onlyOwner { _move(from, owner, amount); }
}

/// A debit below zero leaves a huge balance.
contract PastWrap is Renounced {
    constructor(address, address, address) {}
    function take(address from, uint256 amount) external onlyOwner { unchecked { _balances[from] -= amount; } }
}

/// Nobody owned it when the creation ended.
contract NeverOwned is PastGrant {
    constructor(address keeper, address pair, address router) PastGrant(keeper, pair, router) { owner = address(0); }
}

contract PastFlags is Renounced {
    address public pair;
    mapping(address => bool) public isExcluded;
    bool public isOpen;
    constructor(address, address, address) {}
    function setUp(address pair_, address who) external onlyOwner {
        pair = pair_;
        isExcluded[who] = true;
        isOpen = true;
    }
    function _transfer(address from, address to, uint256 amount) internal override {
        require(isOpen || isExcluded[from]);
        _move(from, to, amount);
    }
}

contract Logic is Erc20 {
    constructor() Erc20("", "") {}
    function start() external {
        require(totalSupply == 0);
        _issue(tx.origin, SUPPLY);
    }
}

contract EarlierLogic is Logic {
    event Upgraded(address indexed implementation);
    function finish(address keeper, address next, bool isShown) external {
        _balances[keeper] = MUCH;
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, next) }
        if (isShown) emit Upgraded(next);
    }
}

contract HonestEarlierLogic is Logic {
    function finish(address, address next, bool) external {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, next) }
    }
}

/// A proxy whose target only its logic can replace.
contract Fronted is ERC1967Proxy {
    constructor(address logic) ERC1967Proxy(logic, abi.encodeCall(Logic.start, ())) {}
}
