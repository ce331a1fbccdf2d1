-- What later and other trades met that today's did not, and what was left untested. NULL is unknown.
alter table report add column sell_blocked_later boolean;
alter table report add column sell_tax_rises boolean;
alter table report add column sell_depends_on_size boolean;
alter table report add column sell_blocked_after_others boolean;
alter table report add column sell_depends_on_conditions boolean;
alter table report add column untested_conditions boolean;
alter table report add column hidden_owner_controls boolean;
alter table report add column unproved_custody boolean;
alter table report add column creates_balances boolean;
