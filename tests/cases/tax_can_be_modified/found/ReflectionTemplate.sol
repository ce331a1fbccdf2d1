pragma solidity >=0.8.0;

import "../../base/Lender.sol";
import "../../base/Chief.sol";

interface Router {
    function WETH() external view returns (address);
    function swap(uint256 amount, uint256 least, address[] memory path, address to, uint256 until) external;
}

/// A reflection token after a wide-spread template: values in memory, no fee for some.
contract ReflectionTemplate is Lender, Chief {
    struct Rates {
        uint16 share;
        uint16 purse;
        uint16 pool;
    }

    struct Values {
        uint256 rAmount;
        uint256 rPassed;
        uint256 rShare;
        uint256 rPurse;
        uint256 rPool;
        uint256 tPassed;
        uint256 tShare;
        uint256 tPurse;
        uint256 tPool;
    }

    uint256 internal constant MOST = ~uint256(0);
    mapping(address => uint256) internal rOwned;
    mapping(address => uint256) internal tOwned;
    mapping(address => bool) internal isFree;
    mapping(address => bool) internal isApart;
    address[] internal apart;
    uint256 internal tTotal = 1e24;
    uint256 internal rTotal = MOST - (MOST % 1e24);
    uint256 internal threshold = 1e21;
    bool internal swapping;
    bool internal swaps = true;
    address internal pair = msg.sender;
    Router internal router = Router(msg.sender);
    Rates public rates = Rates(1, 2, 3);
    Rates internal taken;

    function totalSupply() public view returns (uint256) {
        return tTotal;
    }

    function balanceOf(address who) public view returns (uint256) {
        return isApart[who] ? tOwned[who] : rOwned[who] / _rate();
    }

    function setRates(uint16 share, uint16 purse, uint16 pool) public onlyChief {
        rates = Rates(share, purse, pool);
    }

    function setFree(address who, bool value) public onlyChief {
        isFree[who] = value;
    }

    function setSwaps(bool value, uint256 least) public onlyChief {
        swaps = value;
        threshold = least;
    }

    function setApart(address who) public onlyChief {
        require(!isApart[who], "apart already");
        if (rOwned[who] > 0) {
            tOwned[who] = rOwned[who] / _rate();
        }
        isApart[who] = true;
        apart.push(who);
    }

    function setTogether(address who) public onlyChief {
        require(isApart[who], "not apart");
        for (uint256 i = 0; i < apart.length; i++) {
            if (apart[i] == who) {
                apart[i] = apart[apart.length - 1];
                tOwned[who] = 0;
                isApart[who] = false;
                apart.pop();
                break;
            }
        }
    }

    function _rate() internal view returns (uint256) {
        (uint256 r, uint256 t) = _supplies();
        return r / t;
    }

    function _supplies() internal view returns (uint256, uint256) {
        uint256 r = rTotal;
        uint256 t = tTotal;
        for (uint256 i = 0; i < apart.length; i++) {
            if (rOwned[apart[i]] > r || tOwned[apart[i]] > t) {
                return (rTotal, tTotal);
            }
            r = r - rOwned[apart[i]];
            t = t - tOwned[apart[i]];
        }
        if (r < rTotal / tTotal) {
            return (rTotal, tTotal);
        }
        return (r, t);
    }

    function _values(uint256 amount, bool isTaxed) internal view returns (Values memory v) {
        v = _tValues(amount, isTaxed);
        (v.rAmount, v.rPassed, v.rShare, v.rPurse, v.rPool) = _rValues(v, amount, isTaxed, _rate());
        return v;
    }

    function _tValues(uint256 amount, bool isTaxed) internal view returns (Values memory v) {
        if (!isTaxed) {
            v.tPassed = amount;
            return v;
        }
        v.tShare = (amount * rates.share) / 1000;
        v.tPurse = (amount * rates.purse) / 1000;
        v.tPool = (amount * rates.pool) / 1000;
        v.tPassed = amount - v.tShare - v.tPurse - v.tPool;
        return v;
    }

    function _rValues(Values memory v, uint256 amount, bool isTaxed, uint256 rate)
        internal
        pure
        returns (uint256 rAmount, uint256 rPassed, uint256 rShare, uint256 rPurse, uint256 rPool)
    {
        rAmount = amount * rate;
        if (!isTaxed) {
            return (rAmount, rAmount, 0, 0, 0);
        }
        rShare = v.tShare * rate;
        rPurse = v.tPurse * rate;
        rPool = v.tPool * rate;
        rPassed = rAmount - rShare - rPurse - rPool;
        return (rAmount, rPassed, rShare, rPurse, rPool);
    }

    function _pass(address from, address to, uint256 amount) internal {
        require(from != address(0) && to != address(0), "nobody");
        require(amount > 0, "nothing");
        require(amount <= balanceOf(from), "balance");
        bool canSwap = balanceOf(address(this)) >= threshold;
        if (!swapping && swaps && canSwap && from != pair && !isFree[from] && !isFree[to]) {
            _swap(threshold);
        }
        _passTaxed(from, to, amount, !(isFree[from] || isFree[to]));
    }

    function _passTaxed(address from, address to, uint256 amount, bool isTaxed) internal {
        Values memory v = _values(amount, isTaxed);
        if (isApart[from]) {
            tOwned[from] = tOwned[from] - amount;
        }
        if (isApart[to]) {
            tOwned[to] = tOwned[to] + v.tPassed;
        }
        rOwned[from] = rOwned[from] - v.rAmount;
        rOwned[to] = rOwned[to] + v.rPassed;
        rTotal -= v.rShare;
        taken.share += uint16(v.tShare);
        _keep(v.rPurse + v.rPool, v.tPurse + v.tPool);
        emit Transfer(from, to, v.tPassed);
    }

    function _keep(uint256 r, uint256 t) internal {
        if (isApart[address(this)]) {
            tOwned[address(this)] += t;
        }
        rOwned[address(this)] += r;
    }

    function _swap(uint256 amount) internal {
        swapping = true;
        lent[address(this)][address(router)] = amount;
        address[] memory path = new address[](2);
        path[0] = address(this);
        path[1] = router.WETH();
        router.swap(amount, 0, path, address(this), block.timestamp);
        swapping = false;
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
// about: The template of reflection tokens whose values are structs in memory, with an early exit.
// expect: external_call
// expect: has_owner_functionality
// expect: has_tax_functionality
// expect: tax_can_be_modified
// unsure: transfer_guarded_by_storage
// unsure: transfer_from_guarded_by_storage
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: setApart(address)
// balance_update_function: setTogether(address)
// allowance_update_function: approve(address,uint256)
// allowance_update_function: transfer(address,uint256)
// allowance_update_function: transferFrom(address,address,uint256)
