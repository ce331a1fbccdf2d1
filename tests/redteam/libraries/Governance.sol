// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Votes in 96 bits, as the first governance tokens counted them.
contract Governance {
    struct Checkpoint {
        uint32 fromBlock;
        uint96 votes;
    }

    string public constant name = "Governance";
    string public constant symbol = "CMP";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e24;
    bytes32 private constant DELEGATION = keccak256("Delegation(address delegatee,uint256 nonce,uint256 expiry)");

    mapping(address => mapping(address => uint96)) private _allowed;
    mapping(address => uint96) private _held;
    mapping(address => address) public delegates;
    mapping(address => mapping(uint32 => Checkpoint)) public checkpoints;
    mapping(address => uint32) public numCheckpoints;
    mapping(address => uint256) public nonces;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event VotesChanged(address indexed delegatee, uint256 votes);

    constructor(address, address, address, address maker) {
        _held[maker] = uint96(totalSupply);
        emit Transfer(address(0), maker, totalSupply);
    }

    function balanceOf(address holder) external view returns (uint256) {
        return _held[holder];
    }

    function allowance(address holder, address spender) external view returns (uint256) {
        return _allowed[holder][spender];
    }

    function approve(address spender, uint256 value) external returns (bool) {
        uint96 amount = value == type(uint256).max ? type(uint96).max : _cut(value);
        _allowed[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, _cut(value));
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint96 allowed = _allowed[from][msg.sender];
        uint96 amount = _cut(value);
        if (msg.sender != from && allowed != type(uint96).max) {
            uint96 left = _less(allowed, amount);
            _allowed[from][msg.sender] = left;
            emit Approval(from, msg.sender, left);
        }
        _move(from, to, amount);
        return true;
    }

    function delegate(address to) external {
        _delegate(msg.sender, to);
    }

    function delegateBySig(address to, uint256 nonce, uint256 expiry, uint8 v, bytes32 r, bytes32 s) external {
        bytes32 domain = keccak256(abi.encode(address(this), block.chainid));
        bytes32 said = keccak256(abi.encode(DELEGATION, to, nonce, expiry));
        address signer = ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, said)), v, r, s);
        require(signer != address(0) && nonce == nonces[signer]++ && block.timestamp <= expiry, "signature");
        _delegate(signer, to);
    }

    function _delegate(address holder, address to) private {
        address before = delegates[holder];
        delegates[holder] = to;
        _moveVotes(before, to, _held[holder]);
    }

    function _move(address from, address to, uint96 amount) private {
        require(from != address(0) && to != address(0), "zero");
        _held[from] = _less(_held[from], amount);
        _held[to] = _more(_held[to], amount);
        emit Transfer(from, to, amount);
        _moveVotes(delegates[from], delegates[to], amount);
    }

    function _moveVotes(address from, address to, uint96 amount) private {
        if (from == to || amount == 0) return;
        if (from != address(0)) {
            uint32 count = numCheckpoints[from];
            _note(from, count, _less(count > 0 ? checkpoints[from][count - 1].votes : 0, amount));
        }
        if (to != address(0)) {
            uint32 count = numCheckpoints[to];
            _note(to, count, _more(count > 0 ? checkpoints[to][count - 1].votes : 0, amount));
        }
    }

    function _note(address delegatee, uint32 count, uint96 votes) private {
        require(block.number < 2 ** 32, "block");
        uint32 here = uint32(block.number);
        if (count > 0 && checkpoints[delegatee][count - 1].fromBlock == here) {
            checkpoints[delegatee][count - 1].votes = votes;
        } else {
            checkpoints[delegatee][count] = Checkpoint(here, votes);
            numCheckpoints[delegatee] = count + 1;
        }
        emit VotesChanged(delegatee, votes);
    }

    function _cut(uint256 value) private pure returns (uint96) {
        require(value < 2 ** 96, "amount");
        return uint96(value);
    }

    function _more(uint96 a, uint96 b) private pure returns (uint96 c) {
        unchecked {
            c = a + b;
        }
        require(c >= a, "sum");
    }

    function _less(uint96 a, uint96 b) private pure returns (uint96) {
        require(b <= a, "difference");
        unchecked {
            return a - b;
        }
    }
}
