-- Disputes: a statement on the verdict of a token, and the recorded analysis that it caused.

create table dispute (
    dispute_id integer primary key autoincrement,
    chain_id integer not null,
    address blob not null,
    -- of the ledger; null: filed on the page of the token, without a key
    key_id integer,
    filed_at_s integer not null,
    -- name and statement as the sender wrote them
    sender text not null,
    statement text not null,
    verdict_before text not null,
    -- reasons, by spaces
    reasons_before text not null,
    block_before integer not null,
    attempts integer not null default 0,
    -- Unix seconds of the next attempt, or of the end of a running one; null: it has ended
    due_s integer,
    settled_at_s integer,
    -- of the recorded analysis; null: it has not ended, or it failed
    verdict_after text,
    reasons_after text,
    block_after integer,
    signer blob,
    -- the evidence pack as a file
    pack blob,
    -- why there is no analysis; null: there is one, or it has not ended
    failure text
);
create index dispute_by_token on dispute (chain_id, address, filed_at_s);
create index dispute_by_time on dispute (chain_id, filed_at_s);
create index dispute_by_key on dispute (key_id, filed_at_s) where key_id is not null;
create index dispute_due on dispute (due_s) where due_s is not null;
