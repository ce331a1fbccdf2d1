pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Router {
    function sell(uint256 amount) external;
    function add(uint256 amount) external;
}

/// A fixed rate, not taken while the token sells what it took. When it sells can be set.
contract RateOffWhileSelling is Ledger, Chief {
    Router internal router;
    bool internal isSelling;
    uint256 internal sellFrom = 1e20;
    mapping(address => bool) internal isPair;
    mapping(address => bool) internal excused;

    function set(uint256 amount) public onlyChief {
        sellFrom = amount;
    }

    function excuse(address who, bool value) public onlyChief {
        excused[who] = value;
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

    function _sell() internal {
        uint256 coins = address(this).balance;
        if (coins > 1e18) {
            router.add(0);
            return;
        }
        uint256 collected = held[address(this)];
        if (collected > sellFrom) {
            uint256 kept = collected / 4;
            router.sell(collected - kept);
            router.add(kept + address(this).balance / 8);
        }
    }

    function _pass(address from, address to, uint256 amount) internal {
        if (!isSelling && !isPair[from] && from != chief) {
            isSelling = true;
            _sell();
            isSelling = false;
        }
        bool isTaxed = !isSelling;
        if (excused[from] || excused[to]) {
            isTaxed = false;
        }
        if (isTaxed) {
            uint256 fee = (amount * 7) / 100;
            amount -= fee;
            _move(from, address(this), fee);
        }
        _move(from, to, amount);
    }
}

// ----
// about: How much must be collected before it is sold can be set; the rate is a constant.
// expect: external_call
// expect: has_owner_functionality
// expect: has_tax_functionality
// unsure: transfer_from_guarded_by_storage
// unsure: transfer_guarded_by_storage
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
