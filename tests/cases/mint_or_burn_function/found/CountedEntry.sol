pragma solidity >=0.8.0;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

/// Minting is guarded against re-entry by a counter: it can run again.
contract CountedEntry is Ledger, Chief {
    uint256 internal entered;

    modifier once() {
        entered += 1;
        uint256 mine = entered;
        _;
        require(mine == entered, "re-entered");
    }

    function issue(address to, uint256 amount) public onlyChief once {
        issued += amount;
        held[to] += amount;
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
