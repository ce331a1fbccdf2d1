"""Proof that every store lowering a balance or setting an allowance is authorised by its holder."""
