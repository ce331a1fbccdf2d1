pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

/// Listed addresses may pass the gate before it opens.
contract LaunchGateWithExemptions is Ledger, Chief {
    bool internal open;
    mapping(address => bool) internal exempt;

    function openTrading() public onlyChief {
        open = true;
    }

    function setExempt(address who, bool value) public onlyChief {
        exempt[who] = value;
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
        require(open || exempt[from] || exempt[to], "closed");
        _move(from, to, amount);
    }
}

// ----
// about: Listed addresses may pass the gate before it opens.
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: pause_status_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
