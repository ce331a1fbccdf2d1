-- One row, or none: the checks of a policy that have these keys.
select catalogue_id from check_catalogue where policy = $policy and keys = $keys
