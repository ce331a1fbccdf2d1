pragma solidity >=0.8.0;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Market {
    function sell(uint256 amount) external returns (uint256);
}

/// Constant taxes. When the token sells what it has taken can be set, not how much it takes.
contract SalesOfWhatWasTaken is Ledger, Chief {
    Market internal market;
    address internal pool;
    bool internal isBusy;
    bool internal sells;
    uint256 internal sold;
    uint256 internal least;
    uint256 internal earned;

    function setSales(bool value, uint256 amount) public onlyChief {
        sells = value;
        least = amount;
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
        uint256 fee = 0;
        if (from != chief && to != chief) {
            if (from == pool) {
                fee = (amount * (sold > 20 ? 1 : 3)) / 100;
                sold++;
            } else if (to == pool) {
                fee = (amount * (sold > 30 ? 2 : 4)) / 100;
            }
            if (!isBusy && sells && to == pool && held[address(this)] > least) {
                _sell(held[address(this)] < amount ? held[address(this)] : amount);
                if (address(this).balance > 0) {
                    chief.call("");
                }
            }
        }
        if (fee > 0) {
            held[address(this)] += fee;
        }
        held[from] -= amount;
        held[to] += amount - fee;
    }

    function _sell(uint256 amount) internal {
        isBusy = true;
        earned += market.sell(amount);
        isBusy = false;
    }
}

// ----
// about: Constant taxes. When the token sells what it has taken can be set, not how much it takes.
// expect: external_call
// expect: has_owner_functionality
// expect: has_tax_functionality
// unsure: transfer_from_guarded_by_storage
// unsure: transfer_guarded_by_storage
