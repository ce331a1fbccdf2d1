"""Values and encodings of the EVM: addresses, ABI, Keccak, code shapes."""
