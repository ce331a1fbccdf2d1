// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

interface ILpToken {
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Keeps LP tokens until a date, with the records of UNCX's UniswapV2Locker.
contract DatedLocker {
    struct TokenLock {
        uint256 lockDate;
        uint256 amount;
        uint256 initialAmount;
        uint256 unlockDate;
        uint256 lockID;
        address owner;
    }

    mapping(address => TokenLock[]) public tokenLocks;

    function lockLPToken(address lp, uint256 amount, uint256 unlockDate, address owner) external {
        require(ILpToken(lp).transferFrom(msg.sender, address(this), amount));
        uint256 id = tokenLocks[lp].length;
        tokenLocks[lp].push(TokenLock(block.timestamp, amount, amount, unlockDate, id, owner));
    }

    function getNumLocksForToken(address lp) external view returns (uint256) {
        return tokenLocks[lp].length;
    }

    function withdraw(address lp, uint256 index, uint256 amount) external {
        TokenLock storage kept = tokenLocks[lp][index];
        require(msg.sender == kept.owner, "NOT OWNER");
        require(kept.unlockDate < block.timestamp, "NOT YET");
        kept.amount -= amount;
        require(ILpToken(lp).transfer(msg.sender, amount));
    }
}

/// The same by the records of PinkLock02, whose locks are of variable size.
contract PinkLocker {
    struct Lock {
        uint256 id;
        address token;
        address owner;
        uint256 amount;
        uint256 lockDate;
        uint256 tgeDate;
        uint256 tgeBps;
        uint256 cycle;
        uint256 cycleBps;
        uint256 unlockedAmount;
        string description;
    }

    Lock[] internal locks;

    function lock(address owner, address token, uint256 amount, uint256 until, string calldata words)
        external
    {
        require(ILpToken(token).transferFrom(msg.sender, address(this), amount));
        uint256 id = locks.length;
        locks.push(Lock(id, token, owner, amount, block.timestamp, until, 0, 0, 0, 0, words));
    }

    function getLocksForToken(address token, uint256 start, uint256 end)
        external
        view
        returns (Lock[] memory found)
    {
        uint256 count;
        for (uint256 at; at < locks.length; at++) if (locks[at].token == token) count++;
        if (end >= count) end = count - 1;
        found = new Lock[](end - start + 1);
        uint256 seen;
        for (uint256 at; at < locks.length; at++) {
            if (locks[at].token != token) continue;
            if (seen >= start && seen <= end) found[seen - start] = locks[at];
            seen++;
        }
    }
}

/// Looks like a locker with a lock of ten years, and gives everything back at once.
contract OpenLocker is DatedLocker {
    function rescue(address lp, uint256 amount) external {
        require(ILpToken(lp).transfer(msg.sender, amount));
    }
}

/// The same by the records of Team Finance, which are listed by who may withdraw.
contract TeamLocker {
    struct Item {
        address token;
        address owner;
        uint256 amount;
        uint256 until;
        bool withdrawn;
        bool enforceSchema;
        uint256 schema;
    }

    event Deposit(
        uint256 id,
        address indexed token,
        address indexed owner,
        uint256 amount,
        uint256 until,
        bool enforceSchema,
        uint256 schema
    );
    event LogTokenWithdrawal(
        uint256 id, address indexed token, address indexed owner, uint256 amount
    );

    uint256 public depositId;
    mapping(uint256 => Item) public lockedToken;

    function lockToken(address token, address owner, uint256 amount, uint256 until) external {
        require(ILpToken(token).transferFrom(msg.sender, address(this), amount));
        lockedToken[++depositId] = Item(token, owner, amount, until, false, false, 0);
        emit Deposit(depositId, token, owner, amount, until, false, 0);
    }

    function withdrawTokens(uint256 id, uint256 amount) external {
        Item storage kept = lockedToken[id];
        require(msg.sender == kept.owner && block.timestamp >= kept.until && !kept.withdrawn);
        if (amount == kept.amount) kept.withdrawn = true;
        else kept.amount -= amount;
        require(ILpToken(kept.token).transfer(msg.sender, amount));
        emit LogTokenWithdrawal(id, kept.token, msg.sender, amount);
    }
}

interface IPositions {
    struct Decrease {
        uint256 tokenId;
        uint128 liquidity;
        uint256 amount0Min;
        uint256 amount1Min;
        uint256 deadline;
    }

    struct Collect {
        uint256 tokenId;
        address recipient;
        uint128 amount0Max;
        uint128 amount1Max;
    }

    function positions(uint256 id)
        external
        view
        returns (uint96, address, address, address, uint24, int24, int24, uint128, uint256, uint256, uint128, uint128);
    function transferFrom(address from, address to, uint256 id) external;
    function collect(Collect calldata asked) external returns (uint256, uint256);
}

/// Keeps positions until a date, with the records of UNCX's lockers for Uniswap V3.
contract PositionLocker {
    struct Lock {
        uint256 id;
        address manager;
        address pool;
        uint256 tokenId;
        address owner;
        address pendingOwner;
        address collector;
        address collectTo;
        uint256 unlockDate;
        uint16 country;
        uint256 fee;
    }

    struct Position {
        uint96 nonce;
        address operator;
        address token0;
        address token1;
        uint24 fee;
        int24 lower;
        int24 upper;
        uint128 liquidity;
        uint256 growth0;
        uint256 growth1;
        uint128 owed0;
        uint128 owed1;
    }

    event onLock(
        uint256 id,
        address manager,
        uint256 tokenId,
        address owner,
        address collector,
        address collectTo,
        uint256 unlockDate,
        uint16 country,
        uint256 fee,
        address pool,
        Position position
    );

    Lock[] internal locks;

    function lock(address manager, uint256 tokenId, address owner, uint256 until) external {
        IPositions(manager).transferFrom(msg.sender, address(this), tokenId);
        uint256 id = locks.length;
        locks.push(
            Lock(id, manager, address(0), tokenId, owner, address(0), owner, owner, until, 0, 0)
        );
        Position memory held;
        (,, held.token0, held.token1, held.fee, held.lower, held.upper, held.liquidity,,,,) =
            IPositions(manager).positions(tokenId);
        emit onLock(id, manager, tokenId, owner, owner, owner, until, 0, 0, address(0), held);
    }

    function getLock(uint256 id) external view returns (Lock memory) {
        return locks[id];
    }

    function relock(uint256 id, uint256 until) external {
        require(msg.sender == locks[id].owner && until > locks[id].unlockDate);
        locks[id].unlockDate = until;
    }

    function withdraw(uint256 id, address to) external {
        Lock memory kept = locks[id];
        require(msg.sender == kept.owner && kept.unlockDate < block.timestamp, "NOT YET");
        delete locks[id];
        IPositions(kept.manager).transferFrom(address(this), to, kept.tokenId);
    }
}

/// Collects the fees of the positions that it is sent, and cannot do anything else with them.
contract KeepingLocker {
    function collectFees(address manager, uint256 id, address to) external {
        IPositions(manager).collect(
            IPositions.Collect(id, to, type(uint128).max, type(uint128).max)
        );
    }
}
