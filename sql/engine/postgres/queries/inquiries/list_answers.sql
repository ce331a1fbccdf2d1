-- One row for each of $inquiries that is answered.
select inquiry, answer from inquiry where inquiry = any($inquiries::bigint[]) and answer is not null
