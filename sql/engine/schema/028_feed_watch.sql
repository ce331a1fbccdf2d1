-- Watches that send the feed of a chain to their webhooks.

-- null: it has no feed
alter table watch add column feed_chain_id integer;
-- sequence of the last line that was queued
alter table watch add column feed_cursor integer not null default 0;
create index watch_by_feed on watch (feed_chain_id) where feed_chain_id is not null;

-- Lines of the message, above the first and up to the second sequence; null: it is of no feed
alter table watch_message add column feed_after integer;
alter table watch_message add column feed_up_to integer;
