pragma solidity >=0.4.22;

import "../../base/Chief.sol";

/// Two books of balances, by whether an address takes part in what is reflected.
contract TwoBooks is Chief {
    mapping(address => uint256) internal shares;
    mapping(address => uint256) internal plain;
    mapping(address => bool) internal isOut;
    mapping(address => mapping(address => uint256)) internal lent;
    address[] internal outs;
    uint256 internal issued = 1e24;
    uint256 internal total = 1e30;

    constructor() public {
        shares[msg.sender] = total;
    }

    function totalSupply() public view returns (uint256) {
        return issued;
    }

    function balanceOf(address who) public view returns (uint256) {
        if (isOut[who]) return plain[who];
        return worth(shares[who]);
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        lent[msg.sender][spender] = amount;
        return true;
    }

    function worth(uint256 amount) public view returns (uint256) {
        require(amount <= total, "more than all");
        return amount / _rate();
    }

    function _rate() internal view returns (uint256) {
        uint256 all = total;
        uint256 here = issued;
        for (uint256 i = 0; i < outs.length; i++) {
            if (shares[outs[i]] > all || plain[outs[i]] > here) return total / issued;
            all -= shares[outs[i]];
            here -= plain[outs[i]];
        }
        if (all < total / issued) return total / issued;
        return all / here;
    }

    function leave(address who) public onlyChief {
        require(!isOut[who], "out");
        if (shares[who] > 0) plain[who] = worth(shares[who]);
        isOut[who] = true;
        outs.push(who);
    }

    function join(address who, uint256 place) public onlyChief {
        require(isOut[who] && outs[place] == who, "in");
        outs[place] = address(0);
        plain[who] = 0;
        isOut[who] = false;
    }

    function transfer(address to, uint256 amount) public returns (bool) {
        _pass(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        require(lent[from][msg.sender] >= amount, "allowance");
        lent[from][msg.sender] -= amount;
        _pass(from, to, amount);
        return true;
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 rate = _rate();
        require(shares[from] >= amount * rate, "balance");
        if (isOut[from]) plain[from] -= amount;
        shares[from] -= amount * rate;
        if (isOut[to]) plain[to] += amount;
        shares[to] += amount * rate;
    }
}

// ----
// about: Two books of balances, by whether an address takes part in what is reflected.
// expect: has_owner_functionality
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: leave(address)
// balance_update_function: join(address,uint256)
