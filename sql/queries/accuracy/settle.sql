-- The disagreement $disagreement_id with what a later report says of it; NULLs: none does any more.
update disagreement set settled_block = $settled_block, explanation = $explanation
where disagreement_id = $disagreement_id
