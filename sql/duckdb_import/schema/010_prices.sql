-- Spot price of the token in each of its pools, in USD.

alter table report_pool add column token_usd double;
