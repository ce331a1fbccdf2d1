pragma solidity >=0.4.22;

import "../../base/Ledger.sol";

/// A last share is issued once, after a month.
contract MintsOnceInTime is Ledger {
    bool internal isIssued;
    uint256 internal start = block.timestamp;

    function issue() public {
        require(!isIssued && block.timestamp > start + 30 days, "not now");
        isIssued = true;
        issued += 5e23;
        held[msg.sender] += 5e23;
    }

    function _pass(address from, address to, uint256 amount) internal {
        _move(from, to, amount);
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
// about: Whoever comes first after a month issues a last share.
// expect: mint_or_burn_function
// expect: timebomb
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: issue()
