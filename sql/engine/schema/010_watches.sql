-- Watches: subscriptions to changes of tokens, states of the last notifications, and message queues.

-- One row per watch of a key; of the command line where there is no key.
create table watch (
    id integer primary key autoincrement,
    is_paused integer not null,
    -- of the ledger; null: made at the command line
    key_id integer,
    name text not null default '',
    -- kinds of change, by spaces
    kinds text not null default '',
    -- null: no webhook, messages are read by event stream or MCP
    url text,
    -- key of the webhook's signatures
    secret text,
    created_at_s integer not null default 0,
    -- messages to the webhook that it has not taken yet
    pending integer not null default 0,
    -- messages dropped because the queue was full; the next message has their number
    missed integer not null default 0,
    -- Unix seconds of the next attempt; null: nothing is to be sent
    due_s real,
    -- failed attempts in a row, and when the first of them was made
    failures integer not null default 0,
    failed_first_at_s integer,
    -- since when no attempt is made any more, as a day of them failed; null: attempts are made
    failing_since_s integer,
    -- messages up to this one have been deleted by age
    forgotten integer not null default 0
);
create index watch_by_key on watch (key_id);
create index watch_by_time on watch (due_s) where due_s is not null;

create table watch_token (
    watch_id integer not null references watch (id) on delete cascade,
    token_id integer not null,
    -- 1: there was no settled report since it is watched; the first one is what later ones are
    -- compared with
    is_awaiting integer not null default 1,
    primary key (watch_id, token_id)
) without rowid;
create index watch_token_by_token on watch_token (token_id);

-- State of a token in its last notification, as zstd of JSON. A reorg does not change it: the next
-- report notifies of reverted changes.
create table watch_state (
    token_id integer primary key,
    state blob not null,
    -- block of the last report that it accounts for
    block_number integer not null
);

-- Event about a token, the same for all its watches.
create table watch_event (
    id integer primary key autoincrement,
    chain_id integer not null,
    address blob not null,
    -- null: of a refusal, which belongs to no block
    block_number integer,
    block_hash blob,
    block_time_s integer,
    seen_at_s integer not null,
    -- JSON
    body text not null
);

-- One message to one watch: its event, and the outcome of its delivery.
create table watch_message (
    id integer primary key autoincrement,
    watch_id integer not null references watch (id) on delete cascade,
    -- null: a test
    event_id integer references watch_event (id),
    kind text not null,
    created_at_s integer not null,
    missed integer not null,
    is_pending integer not null,
    attempts integer not null default 0,
    tried_at_s integer,
    -- null: the webhook has not taken it, or there is none
    delivered_at_s integer,
    -- of the last attempt; null: it was good, or there was none
    error text
);
create index watch_message_by_watch on watch_message (watch_id, id);
create index watch_message_pending on watch_message (watch_id, id) where is_pending = 1;
create index watch_message_oldest on watch_message (created_at_s) where is_pending = 1;
create index watch_message_by_age on watch_message (created_at_s) where is_pending = 0;
create index watch_message_by_event on watch_message (event_id);
