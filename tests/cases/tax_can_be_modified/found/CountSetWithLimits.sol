pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Router {
    function sell(uint256 amount, address to, uint256 deadline) external;
}

/// Constant rates that fall with the count of buys; with the limits goes the count they fall at.
contract CountSetWithLimits is Ledger, Chief {
    Router internal router;
    address internal pair;
    bool internal inSwap;
    bool internal swapEnabled;
    uint256 internal constant FIRST_BUY = 25;
    uint256 internal constant FIRST_SALE = 30;
    uint256 internal constant LAST_BUY = 1;
    uint256 internal constant LAST_SALE = 2;
    uint256 internal buyCount;
    uint256 internal lowerBuysFrom = 40;
    uint256 internal lowerSalesFrom = 60;
    uint256 internal most = 2e22;
    uint256 internal mostHeld = 2e22;
    uint256 internal swapFrom = 1e20;
    mapping(address => bool) internal excused;
    mapping(address => bool) internal bots;

    function openTrading(Router router_, address pair_) public onlyChief {
        require(!swapEnabled, "open");
        router = router_;
        pair = pair_;
        swapEnabled = true;
    }

    function setSwapFrom(uint256 amount) public onlyChief {
        swapFrom = amount;
    }

    function removeLimits() public onlyChief {
        most = issued;
        mostHeld = issued;
        lowerBuysFrom = 20;
        lowerSalesFrom = 20;
    }

    function setBot(address who, bool value) public onlyChief {
        bots[who] = value;
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
        require(from != address(0) && to != address(0), "nobody");
        uint256 fee = 0;
        if (from != chief && to != chief) {
            require(!bots[from] && !bots[to], "bot");
            fee = (amount * (buyCount > lowerBuysFrom ? LAST_BUY : FIRST_BUY)) / 100;
            if (from == pair && to != address(router) && !excused[to]) {
                require(amount <= most, "too large");
                require(held[to] + amount <= mostHeld, "too much for one");
                buyCount++;
            }
            if (to == pair && from != address(this)) {
                fee = (amount * (buyCount > lowerSalesFrom ? LAST_SALE : FIRST_SALE)) / 100;
            }
            uint256 collected = held[address(this)];
            if (!inSwap && to == pair && swapEnabled && collected > swapFrom) {
                inSwap = true;
                router.sell(collected < amount ? collected : amount, address(this), block.timestamp);
                inSwap = false;
            }
        }
        if (fee > 0) {
            held[address(this)] += fee;
            emit Transfer(from, address(this), fee);
        }
        require(held[from] >= amount, "balance");
        held[from] -= amount;
        held[to] += amount - fee;
        emit Transfer(from, to, amount - fee);
    }
}

// ----
// about: Which of two constant rates holds depends on a count, and one function sets the count to pass.
// expect: external_call
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: has_tax_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: position_cap_can_be_modified
// expect: trading_cap_can_be_modified
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// unsure: has_pause_functionality
// unsure: pause_status_can_be_modified
// expect: tax_can_be_modified
