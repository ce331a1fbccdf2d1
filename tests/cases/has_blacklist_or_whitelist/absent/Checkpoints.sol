pragma solidity >=0.8.0;

import "../../base/Ledger.sol";

/// Checkpoints of votes, in the order of time, refuse nobody.
contract Checkpoints is Ledger {
    struct Checkpoint {
        uint48 at;
        uint208 votes;
    }

    mapping(address => address) internal delegate;
    mapping(address => Checkpoint[]) internal history;

    function delegateTo(address who) public {
        address before = delegate[msg.sender];
        delegate[msg.sender] = who;
        _moveVotes(before, who, held[msg.sender]);
    }

    function _latest(address who) internal view returns (uint208) {
        uint256 count = history[who].length;
        return count == 0 ? 0 : history[who][count - 1].votes;
    }

    function _write(address who, uint208 votes) internal {
        uint256 count = history[who].length;
        uint48 at = uint48(block.number);
        if (count > 0) {
            Checkpoint storage last = history[who][count - 1];
            require(last.at <= at, "order");
            if (last.at == at) {
                last.votes = votes;
                return;
            }
        }
        history[who].push(Checkpoint(at, votes));
    }

    function _moveVotes(address from, address to, uint256 amount) internal {
        if (from != to && amount > 0) {
            if (from != address(0)) {
                _write(from, _latest(from) - uint208(amount));
            }
            if (to != address(0)) {
                _write(to, _latest(to) + uint208(amount));
            }
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
        _moveVotes(delegate[from], delegate[to], amount);
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        _spend(from, amount);
        _pass(from, to, amount);
        return true;
    }
}

// ----
// about: Transfers move votes between the checkpoints of delegates.
// expect: timebomb
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
