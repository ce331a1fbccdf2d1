pragma solidity >=0.4.22;

import "../../base/Chief.sol";
import "../../base/Ledger.sol";

interface Market {
    function sell(uint256 amount) external;
}

/// What is taken is sold only once a switch is on; it is taken either way. The rate was set when
/// the token was made.
contract SwapSwitch is Chief, Ledger {
    Market internal market;
    address internal pair;
    uint256 internal rate;
    bool internal isSelling;

    constructor(Market where, address pool, uint256 percent) public {
        market = where;
        pair = pool;
        rate = percent;
    }

    function open() public onlyChief {
        isSelling = true;
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
        uint256 taken = (amount * rate) / 100;
        uint256 kept = held[address(this)];
        if (to == pair && isSelling && kept > 1e18) market.sell(kept);
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += amount - taken;
        held[address(this)] += taken;
        emit Transfer(from, to, amount - taken);
    }
}

// ----
// about: The switch decides whether what was taken is sold, not whether or how much is taken.
// expect: has_owner_functionality
// expect: has_tax_functionality
// expect: external_call
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
