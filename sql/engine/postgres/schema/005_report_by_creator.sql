-- Index of reports by the creators of their tokens; those without a known creator are left out.
create index report_by_creator on report (chain_id, creator_address, token_id)
where creator_address is not null;
