-- Shapes of the code of analysed tokens, to find tokens with the same or similar code.

-- One row for all tokens of a chain whose codes have one digest.
create table code_shape (
    shape_id integer primary key autoincrement,
    chain_id integer not null,
    -- how shapes were made: only those of one version are compared
    version integer not null,
    digest blob not null,
    sketch blob not null
);
create unique index code_shape_by_digest on code_shape (chain_id, version, digest);

-- Shapes that may be alike, by the keys that bands of their sketches have in common. A key has at most
-- a fixed number of places: the first shapes keep theirs, later ones replace others. A look-up reads a
-- bounded number of rows, and a flood of made-up codes displaces none of the first.
create table shape_band (
    chain_id integer not null,
    version integer not null,
    band integer not null,
    place integer not null,
    shape_id integer not null,
    primary key (chain_id, version, band, place)
) without rowid;

-- Reports that were stored before this table have no row until the token is analysed again.
create table token_shape (
    token_id integer primary key,
    shape_id integer not null
);
create index token_shape_by_shape on token_shape (shape_id, token_id);
