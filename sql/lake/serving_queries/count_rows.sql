-- One row: how many rows a batch has, counted up to :at_most of each kind.
select
    (select count(*) from (
        select 1 from final_transfer where batch = :batch limit :at_most
    )) as transfers,
    (select count(*) from (
        select 1 from final_trade where batch = :batch limit :at_most
    )) as trades,
    (select count(*) from (
        select 1 from final_undecoded where batch = :batch limit :at_most
    )) as undecoded
