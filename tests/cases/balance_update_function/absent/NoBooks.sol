pragma solidity >=0.4.22;

/// Not a token: there are no balances to write.
contract NoBooks {
    mapping(address => uint256) internal points;

    function score(address who) public view returns (uint256) {
        return points[who];
    }

    function win(uint256 amount) public {
        points[msg.sender] += amount;
    }
}

// ----
// about: Not a token: there are no balances to write.
// only: allowance_update_function
// only: balance_update_function
// only: can_selfdestruct
// only: is_proxy
// balance_update_function: none
// allowance_update_function: none
