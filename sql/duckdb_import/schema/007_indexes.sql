-- Speed only: no statement is right or wrong because of one of these. A store without indexes
-- (DuckLake) leaves this file out.

create index token_by_address on token (address);
create index token_by_id on token (token_id);
create index report_by_token on report (token_id);
create index report_static_by_token on report_static (token_id);
create index report_pool_by_token on report_pool (token_id);
create index report_holder_by_token on report_holder (token_id);
create index report_deadline_by_token on report_deadline (token_id);
create index report_evidence_by_token on report_evidence (token_id);
create index refusal_by_token on refusal (token_id);
create index code_by_hash on code (code_hash);
create index code_answer_by_hash on code_answer (code_hash);
