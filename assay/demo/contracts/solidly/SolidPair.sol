// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

interface IToken {
    function balanceOf(address account) external view returns (uint256);
    function decimals() external view returns (uint8);
}

interface IFees {
    function getFee(bool stable) external view returns (uint256);
}

interface ISwapCallee {
    function hook(address sender, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

/// Pair with the interface of the Solidly and Velodrome v1 family: x*y = k, or x^3*y + y^3*x = k for
/// stables. One difference inside: fees stay in the reserves instead of a contract beside the pair.
contract SolidPair {
    string public constant name = "Solidly AMM";
    string public constant symbol = "sAMM";
    uint8 public constant decimals = 18;

    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    address public immutable token0;
    address public immutable token1;
    bool public immutable stable;
    address public immutable factory = msg.sender;

    uint256 private constant MINIMUM_LIQUIDITY = 1000;
    uint256 private immutable _unit0;
    uint256 private immutable _unit1;
    uint256 public reserve0;
    uint256 public reserve1;
    uint256 public blockTimestampLast;
    uint256 private _unlocked = 1;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Approval(address indexed owner, address indexed spender, uint256 amount);
    event Mint(address indexed sender, uint256 amount0, uint256 amount1);
    event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to);
    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );
    event Sync(uint256 reserve0, uint256 reserve1);

    modifier lock() {
        require(_unlocked == 1, "LOCKED");
        _unlocked = 2;
        _;
        _unlocked = 1;
    }

    constructor(address token0_, address token1_, bool stable_) {
        token0 = token0_;
        token1 = token1_;
        stable = stable_;
        _unit0 = 10 ** IToken(token0_).decimals();
        _unit1 = 10 ** IToken(token1_).decimals();
    }

    function tokens() external view returns (address, address) {
        return (token0, token1);
    }

    function metadata()
        external
        view
        returns (uint256 dec0, uint256 dec1, uint256 r0, uint256 r1, bool st, address t0, address t1)
    {
        return (_unit0, _unit1, reserve0, reserve1, stable, token0, token1);
    }

    function getReserves()
        public
        view
        returns (uint256 _reserve0, uint256 _reserve1, uint256 _blockTimestampLast)
    {
        return (reserve0, reserve1, blockTimestampLast);
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        amountIn -= amountIn * IFees(factory).getFee(stable) / 10000;
        return _amountOut(amountIn, tokenIn == token0);
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        if (allowance[from][msg.sender] != type(uint256).max) allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
        return true;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function mint(address to) external lock returns (uint256 liquidity) {
        (uint256 balance0, uint256 balance1) = _held();
        uint256 amount0 = balance0 - reserve0;
        uint256 amount1 = balance1 - reserve1;
        if (totalSupply == 0) {
            liquidity = _sqrt(amount0 * amount1) - MINIMUM_LIQUIDITY;
            _issue(address(0), MINIMUM_LIQUIDITY);
        } else {
            uint256 share0 = amount0 * totalSupply / reserve0;
            uint256 share1 = amount1 * totalSupply / reserve1;
            liquidity = share0 < share1 ? share0 : share1;
        }
        require(liquidity > 0, "ILM");
        _issue(to, liquidity);
        _update(balance0, balance1);
        emit Mint(msg.sender, amount0, amount1);
    }

    function burn(address to) external lock returns (uint256 amount0, uint256 amount1) {
        (uint256 balance0, uint256 balance1) = _held();
        uint256 liquidity = balanceOf[address(this)];
        amount0 = liquidity * balance0 / totalSupply;
        amount1 = liquidity * balance1 / totalSupply;
        require(amount0 > 0 && amount1 > 0, "ILB");
        balanceOf[address(this)] = 0;
        totalSupply -= liquidity;
        emit Transfer(address(this), address(0), liquidity);
        _pay(token0, to, amount0);
        _pay(token1, to, amount1);
        (balance0, balance1) = _held();
        _update(balance0, balance1);
        emit Burn(msg.sender, amount0, amount1, to);
    }

    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external lock {
        require(amount0Out > 0 || amount1Out > 0, "IOA");
        require(amount0Out < reserve0 && amount1Out < reserve1, "IL");
        require(to != token0 && to != token1, "IT");
        if (amount0Out > 0) _pay(token0, to, amount0Out);
        if (amount1Out > 0) _pay(token1, to, amount1Out);
        if (data.length > 0) ISwapCallee(to).hook(msg.sender, amount0Out, amount1Out, data);
        (uint256 balance0, uint256 balance1) = _held();
        uint256 amount0In = _paidIn(balance0, reserve0, amount0Out);
        uint256 amount1In = _paidIn(balance1, reserve1, amount1Out);
        require(amount0In > 0 || amount1In > 0, "IIA");
        uint256 fee = IFees(factory).getFee(stable);
        require(
            _k(balance0 - amount0In * fee / 10000, balance1 - amount1In * fee / 10000)
                >= _k(reserve0, reserve1),
            "K"
        );
        _update(balance0, balance1);
        emit Swap(msg.sender, amount0In, amount1In, amount0Out, amount1Out, to);
    }

    function skim(address to) external lock {
        (uint256 balance0, uint256 balance1) = _held();
        _pay(token0, to, balance0 - reserve0);
        _pay(token1, to, balance1 - reserve1);
    }

    function sync() external lock {
        (uint256 balance0, uint256 balance1) = _held();
        _update(balance0, balance1);
    }

    function _held() private view returns (uint256, uint256) {
        return (IToken(token0).balanceOf(address(this)), IToken(token1).balanceOf(address(this)));
    }

    function _paidIn(uint256 balance, uint256 reserve, uint256 out) private pure returns (uint256) {
        return balance > reserve - out ? balance - (reserve - out) : 0;
    }

    function _update(uint256 balance0, uint256 balance1) private {
        reserve0 = balance0;
        reserve1 = balance1;
        blockTimestampLast = block.timestamp;
        emit Sync(balance0, balance1);
    }

    function _amountOut(uint256 amountIn, bool zeroForOne) private view returns (uint256) {
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        if (!stable) return amountIn * reserveOut / (reserveIn + amountIn);
        (uint256 unitIn, uint256 unitOut) = zeroForOne ? (_unit0, _unit1) : (_unit1, _unit0);
        uint256 k = _k(reserve0, reserve1);
        uint256 x = (reserveIn + amountIn) * 1e18 / unitIn;
        uint256 scaledOut = reserveOut * 1e18 / unitOut;
        return (scaledOut - _solveY(x, k, scaledOut)) * unitOut / 1e18;
    }

    function _k(uint256 x, uint256 y) private view returns (uint256) {
        if (!stable) return x * y;
        return _curve(x * 1e18 / _unit0, y * 1e18 / _unit1);
    }

    /// x^3*y + y^3*x, eighteen decimals.
    function _curve(uint256 x, uint256 y) private pure returns (uint256) {
        return (x * y / 1e18) * (x * x / 1e18 + y * y / 1e18) / 1e18;
    }

    /// The y at which the curve through k passes over x, by Newton's method from above.
    function _solveY(uint256 x, uint256 k, uint256 y) private pure returns (uint256) {
        for (uint256 i; i < 255; ++i) {
            uint256 before = y;
            uint256 value = _curve(x, y);
            uint256 slope = 3 * x * (y * y / 1e18) / 1e18 + (x * x / 1e18) * x / 1e18;
            y = value < k ? y + (k - value) * 1e18 / slope : y - (value - k) * 1e18 / slope;
            uint256 step = y > before ? y - before : before - y;
            if (step <= 1) return y;
        }
        return y;
    }

    function _issue(address to, uint256 amount) private {
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }

    function _pay(address token, address to, uint256 amount) private {
        (bool done, bytes memory answer) =
            token.call(abi.encodeWithSignature("transfer(address,uint256)", to, amount));
        require(done && (answer.length == 0 || abi.decode(answer, (bool))), "PAY");
    }

    function _sqrt(uint256 value) private pure returns (uint256 root) {
        if (value == 0) return 0;
        root = value;
        uint256 next = value / 2 + 1;
        while (next < root) {
            root = next;
            next = (value / next + next) / 2;
        }
    }
}
