-- Reports are looked up by who created their tokens; those whose creator is not known are left out.
create index report_by_creator on report (chain_id, creator_address, token_id)
where creator_address is not null;
