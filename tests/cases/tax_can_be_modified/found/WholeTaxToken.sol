pragma solidity >=0.5.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Router {
    function sell(uint256 amount, address to, uint256 deadline) external;
}

/// The usual tax token: gate, limits, delay, bots, fees that are swapped and sent.
contract WholeTaxToken is Ledger, Chief {
    Router internal router;
    address internal pair;
    address payable internal wallet;
    bool internal open;
    bool internal limited = true;
    bool internal delayed = true;
    bool internal swapping;
    uint256 internal most = 1e22;
    uint256 internal mostHeld = 2e22;
    uint256 internal threshold = 1e20;
    uint256 internal buyRate = 20;
    uint256 internal sellRate = 20;
    mapping(address => bool) internal excused;
    mapping(address => bool) internal bots;
    mapping(address => uint256) internal lastBlock;

    function openTrading(Router router_, address pair_) public onlyChief {
        require(!open, "open");
        router = router_;
        pair = pair_;
        open = true;
    }

    function removeLimits() public onlyChief {
        limited = false;
        delayed = false;
    }

    function setRates(uint256 buy, uint256 sell) public onlyChief {
        require(buy + sell <= 50, "too high");
        buyRate = buy;
        sellRate = sell;
    }

    function setBots(address[] memory who, bool value) public onlyChief {
        for (uint256 i = 0; i < who.length; i++) {
            bots[who[i]] = value;
        }
    }

    function setWallet(address payable value) public onlyChief {
        wallet = value;
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
        require(!bots[from] && !bots[to], "bot");
        bool free = excused[from] || excused[to] || swapping;
        if (!free) {
            require(open, "not open");
            if (limited) {
                if (from == pair) {
                    require(amount <= most, "too large");
                    require(held[to] + amount <= mostHeld, "too much for one");
                }
                if (delayed && to != pair) {
                    require(lastBlock[tx.origin] < block.number, "one per block");
                    lastBlock[tx.origin] = block.number;
                }
            }
        }
        uint256 collected = held[address(this)];
        if (to == pair && collected >= threshold && !swapping) {
            swapping = true;
            _sell(collected);
            swapping = false;
        }
        uint256 fee = 0;
        if (!free) {
            if (from == pair) fee = amount * buyRate / 100;
            if (to == pair) fee = amount * sellRate / 100;
            if (fee > 0) _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }

    function _sell(uint256 amount) internal {
        lent[address(this)][address(router)] = amount;
        router.sell(amount, address(this), block.timestamp);
        wallet.transfer(address(this).balance);
    }
}

// ----
// about: The usual tax token: gate, limits, delay, bots, fees that are swapped and sent.
// expect: external_call
// expect: has_blacklist_or_whitelist
// expect: has_owner_functionality
// expect: has_pause_functionality
// expect: has_position_cap
// expect: has_position_cap_functionality
// expect: has_tax_functionality
// expect: has_trading_cap
// expect: has_trading_cap_functionality
// expect: pause_status_can_be_modified
// expect: position_cap_can_be_modified
// expect: tax_can_be_modified
// expect: timebomb
// expect: trading_cap_can_be_modified
// expect: trading_cooldown
// expect: transfer_from_guarded_by_storage
// expect: transfer_guarded_by_storage
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transfer(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
