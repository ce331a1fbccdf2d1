-- One row: how many rows a batch has, counted up to :at_most of each kind; -1: all.
select
    (select count(*) from (
        select 1 from final_transfer where batch = :batch limit nullif(:at_most::bigint, -1)
    ) as counted) as transfers,
    (select count(*) from (
        select 1 from final_trade where batch = :batch limit nullif(:at_most::bigint, -1)
    ) as counted) as trades,
    (select count(*) from (
        select 1 from final_undecoded where batch = :batch limit nullif(:at_most::bigint, -1)
    ) as counted) as undecoded
