pragma solidity ^0.8.0;
contract Token {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) internal listed;
    uint256 public totalSupply; address internal chief; uint256 internal feePercent;
    constructor() { chief = msg.sender; }
    function list(address whom, bool value) public { require(msg.sender == chief); listed[whom] = value; }
    function setFee(uint256 value) public { require(msg.sender == chief && value < 7); feePercent = value; }
    function approve(address spender, uint256 amount) public returns (bool) {
        allowance[msg.sender][spender] = amount; return true;
    }
    function transfer(address to, uint256 amount) public returns (bool) { move(msg.sender, to, amount); return true; }
    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        allowance[from][msg.sender] -= amount; move(from, to, amount); return true;
    }
    function move(address from, address to, uint256 amount) internal {
        require(!listed[from]);
        uint256 fee = amount * feePercent / 100;
        balanceOf[from] -= amount;
        balanceOf[chief] += fee;
        balanceOf[to] += amount - fee;
    }
}
