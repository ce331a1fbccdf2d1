pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// The largest transfer is a share of the supply, and the share is a setting.
contract CapByShare is Ledger, Chief {
    uint256 internal share = 100;

    function setShare(uint256 value) public onlyChief {
        share = value;
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
        if (from != chief && to != chief) {
            require(amount <= issued * share / 10000, "too large");
        }
        _move(from, to, amount);
    }
}
