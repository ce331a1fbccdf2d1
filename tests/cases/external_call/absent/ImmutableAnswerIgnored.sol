pragma solidity >=0.7.0;

import "../../base/Ledger.sol";

/// An immutable wallet is sent coins, and whether it took them is all that counts.
contract ImmutableAnswerIgnored is Ledger {
    address internal immutable wallet;

    constructor(address value) {
        wallet = value;
    }

    function sweep() public {
        address target = wallet;
        bool ok;
        assembly {
            ok := call(50000, target, selfbalance(), 0, 0, 0, 0)
        }
        require(ok, "not taken");
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

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
    }
}

// ----
// about: An immutable wallet is sent coins, and whether it took them is all that counts.
