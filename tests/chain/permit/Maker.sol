pragma solidity >=0.8.4;

/// A token as many are: what it signs for is worked out once and kept in immutables.
contract PermitToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces;
    uint256 public totalSupply = 1e24;
    string public name;

    bytes32 private constant PERMIT = keccak256(
        "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
    );
    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");

    address private immutable self = address(this);
    uint256 private immutable madeOn = block.chainid;
    bytes32 private immutable hashedName;
    bytes32 private immutable separator;
    address private immutable keeper;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory title, address mine) {
        name = title;
        hashedName = keccak256(bytes(title));
        separator = _separator(keccak256(bytes(title)));
        keeper = mine;
        balanceOf[mine] = totalSupply;
    }

    function symbol() external pure returns (string memory) {
        return "PT";
    }

    function decimals() external pure returns (uint8) {
        return 18;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        if (address(this) == self && block.chainid == madeOn) return separator;
        return _separator(hashedName);
    }

    function _separator(bytes32 hashed) private view returns (bytes32) {
        return keccak256(abi.encode(DOMAIN, hashed, block.chainid, address(this)));
    }

    function approve(address spender, uint256 value) external returns (bool) {
        _approve(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function mint(address to, uint256 value) external {
        require(msg.sender == keeper, "keeper");
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(block.timestamp <= deadline, "late");
        bytes32 order = keccak256(abi.encode(PERMIT, owner, spender, value, nonces[owner]++, deadline));
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), order));
        address signer = ecrecover(digest, v, r, s);
        require(signer != address(0) && signer == owner, "signature");
        _approve(owner, spender, value);
    }

    function _approve(address owner, address spender, uint256 value) private {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function _move(address from, address to, uint256 value) private {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// Deploys them, so that the node itself writes their immutables.
contract Maker {
    mapping(uint256 => address) public made;

    function make(uint256 number, string calldata title, address keeper) external {
        made[number] = address(new PermitToken(title, keeper));
    }
}
