-- One row per transfer; its addresses are numbers of the dictionary.
select
    rowid, chain_id, block_number, log_index, token_id, sender_id, recipient_id,
    word0, word1, word2, word3
from transfer
where rowid > $above and rowid <= $up_to
order by rowid
