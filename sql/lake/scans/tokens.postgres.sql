-- One row per token of batch {batch}, as text. PostgreSQL runs it itself and finds each token by its
-- key, where DuckDB would read the whole table of tokens.
select token_id, encode(address, 'hex') as address
from token
where token_id in (select token_id from final_transfer where batch = {batch})
