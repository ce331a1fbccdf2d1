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
