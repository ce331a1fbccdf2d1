-- Following unwinds no block of $chain_id below $number any more.
insert into window_floor (chain_id, number) values ($chain_id, $number)
on conflict (chain_id) do update set number = excluded.number
where window_floor.number < excluded.number
