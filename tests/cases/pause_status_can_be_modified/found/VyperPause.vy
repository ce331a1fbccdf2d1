# pragma version ~=0.4.0
# The chief pauses all transfers, in Vyper.

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256

name: public(constant(String[8])) = "Case"
decimals: public(constant(uint8)) = 18
totalSupply: public(uint256)
balanceOf: public(HashMap[address, uint256])
allowance: public(HashMap[address, HashMap[address, uint256]])
chief: address
paused: public(bool)

@deploy
def __init__():
    self.totalSupply = 10**24
    self.balanceOf[msg.sender] = 10**24
    self.chief = msg.sender


@external
def set_paused(on: bool):
    assert msg.sender == self.chief, "no"
    self.paused = on


@external
def approve(spender: address, amount: uint256) -> bool:
    self.allowance[msg.sender][spender] = amount
    return True


@external
def transfer(to: address, amount: uint256) -> bool:
    self._move(msg.sender, to, amount)
    return True


@external
def transferFrom(holder: address, to: address, amount: uint256) -> bool:
    self.allowance[holder][msg.sender] -= amount
    self._move(holder, to, amount)
    return True


@internal
def _move(holder: address, to: address, amount: uint256):
    assert not self.paused, "paused"
    assert to != empty(address)
    self.balanceOf[holder] -= amount
    self.balanceOf[to] += amount
    log Transfer(sender=holder, receiver=to, value=amount)

# ----
# about: The chief pauses all transfers, in Vyper.
# expect: has_owner_functionality
# expect: has_pause_functionality
# expect: pause_status_can_be_modified
# expect: transfer_from_guarded_by_storage
# expect: transfer_guarded_by_storage
