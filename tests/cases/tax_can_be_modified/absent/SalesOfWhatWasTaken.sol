pragma solidity >=0.4.22;

import "../../base/Ledger.sol";
import "../../base/Chief.sol";

interface Market {
    function sell(uint256 amount) external returns (uint256);
}

/// A constant tax. When the token sells what it has taken can be set, not how much it takes.
contract SalesOfWhatWasTaken is Ledger, Chief {
    Market internal market;
    address internal pool;
    bool internal sells;
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
        if (sells && held[address(this)] >= least && to == pool) {
            earned += market.sell(held[address(this)]);
        }
        uint256 fee = from == pool || to == pool ? amount / 50 : 0;
        if (fee > 0) {
            _move(from, address(this), fee);
        }
        _move(from, to, amount - fee);
    }
}
