pragma solidity >=0.7.0;

/// Everything is kept in one namespace of ERC-7201.
contract Namespaced {
    struct Books {
        mapping(address => uint256) held;
        mapping(address => mapping(address => uint256)) lent;
        uint256 issued;
        address boss;
    }

    bytes32 private constant PLACE = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00;

    function _books() private pure returns (Books storage books) {
        bytes32 place = PLACE;
        assembly {
            books.slot := place
        }
    }

    function totalSupply() public view returns (uint256) {
        return _books().issued;
    }

    function balanceOf(address who) public view returns (uint256) {
        return _books().held[who];
    }

    function allowance(address owner, address spender) public view returns (uint256) {
        return _books().lent[owner][spender];
    }

    function approve(address spender, uint256 amount) public returns (bool) {
        _books().lent[msg.sender][spender] = amount;
        return true;
    }

    function mint(address to, uint256 amount) public {
        Books storage books = _books();
        require(msg.sender == books.boss, "no");
        books.issued += amount;
        books.held[to] += amount;
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

    function _spend(address owner, uint256 amount) internal {
        mapping(address => uint256) storage lent = _books().lent[owner];
        require(lent[msg.sender] >= amount, "allowance");
        lent[msg.sender] -= amount;
    }

    function _pass(address from, address to, uint256 amount) internal {
        Books storage books = _books();
        require(books.held[from] >= amount, "balance");
        books.held[from] -= amount;
        books.held[to] += amount;
    }
}

// ----
// about: Everything is kept in one namespace of ERC-7201.
// expect: has_owner_functionality
// expect: mint_or_burn_function
// balance_update_function: mint(address,uint256)
// balance_update_function: transfer(address,uint256)
// balance_update_function: transferFrom(address,address,uint256)
