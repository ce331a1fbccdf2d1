-- As sql/engine/schema/028_feed_watch.sql, whose comments describe the columns.

alter table watch add column feed_chain_id bigint;
alter table watch add column feed_cursor bigint not null default 0;
create index watch_by_feed on watch (feed_chain_id) where feed_chain_id is not null;

alter table watch_message add column feed_after bigint;
alter table watch_message add column feed_up_to bigint;
