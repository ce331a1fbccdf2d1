pragma solidity >=0.4.22;

import "../../base/Lender.sol";
import "../../base/Chief.sol";

/// Per-address units of a rebasing token refuse nobody.
contract RebasingOptOut is Lender, Chief {
    mapping(address => uint256) internal held;
    uint256 public totalSupply = 1e24;
    uint256 internal perToken = 1e18;
    mapping(address => uint256) internal fixedPerToken;
    mapping(address => bool) internal isOut;

    function balanceOf(address who) public view returns (uint256) {
        return (held[who] * 1e18) / _unit(who);
    }

    function optOut() public {
        require(!isOut[msg.sender], "out already");
        held[msg.sender] = balanceOf(msg.sender);
        fixedPerToken[msg.sender] = 1e18;
        isOut[msg.sender] = true;
    }

    function optOutFor(address who) public onlyChief {
        held[who] = balanceOf(who);
        fixedPerToken[who] = 1e18;
        isOut[who] = true;
    }

    function _unit(address who) internal view returns (uint256) {
        return fixedPerToken[who] == 0 ? perToken : fixedPerToken[who];
    }

    function _pass(address from, address to, uint256 amount) internal {
        uint256 debit = (amount * _unit(from)) / 1e18;
        uint256 credit = (amount * _unit(to)) / 1e18;
        require(held[from] >= debit, "balance");
        held[from] -= debit;
        held[to] += credit;
        emit Transfer(from, to, amount);
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
// about: Accounts may opt out of rebasing; their balance then counts in another unit.
// expect: has_owner_functionality
// unsure: has_tax_functionality
// unsure: tax_can_be_modified
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
// balance_update_function: optOut()
// balance_update_function: optOutFor(address)
