// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

struct V4Key {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct InfinityKey {
    address currency0;
    address currency1;
    address hooks;
    address poolManager;
    uint24 fee;
    bytes32 parameters;
}

struct Swap {
    bool zeroForOne;
    int256 amountSpecified;
    uint160 sqrtPriceLimitX96;
}

/// What a hook's owner may do: stop all swaps.
abstract contract Stoppable {
    address public owner = msg.sender;
    bool public isStopped;

    function stop(bool stopped) external {
        require(msg.sender == owner, "not the owner");
        isStopped = stopped;
    }

    modifier whileOpen() {
        require(!isStopped, "stopped");
        _;
    }
}

contract StoppableHook is Stoppable {
    function beforeSwap(address, V4Key calldata, Swap calldata, bytes calldata)
        external
        view
        whileOpen
        returns (bytes4, int256, uint24)
    {
        return (this.beforeSwap.selector, 0, 0);
    }
}

contract StoppableCLHook is Stoppable {
    function beforeSwap(address, InfinityKey calldata, Swap calldata, bytes calldata)
        external
        view
        whileOpen
        returns (bytes4, int256, uint24)
    {
        return (this.beforeSwap.selector, 0, 0);
    }
}

contract StoppableBinHook is Stoppable {
    function afterSwap(address, InfinityKey calldata, bool, int128, int256, bytes calldata)
        external
        view
        whileOpen
        returns (bytes4, int128)
    {
        return (this.afterSwap.selector, 0);
    }
}

/// The honest double: nobody decides anything.
contract OpenHook {
    function beforeSwap(address, V4Key calldata, Swap calldata, bytes calldata)
        external
        pure
        returns (bytes4, int256, uint24)
    {
        return (OpenHook.beforeSwap.selector, 0, 0);
    }
}

/// A token whose owner may stop approvals, which no usual field tells.
contract StoppableApprovalToken is Stoppable {
    string public constant name = "Approvals";
    string public constant symbol = "APP";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 10 ** 24;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    constructor() {
        balanceOf[msg.sender] = totalSupply;
    }

    function approve(address spender, uint256 amount) external whileOpen returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }
}
