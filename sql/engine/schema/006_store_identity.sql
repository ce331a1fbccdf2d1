-- The random id of this store: its lake has the same. A lake with another id is not used.

create table store_identity (
    one integer primary key check (one = 1),
    store_id text not null
);
insert into store_identity values (1, lower(hex(randomblob(16))));
