-- Says in the commit of this transaction by which lease it is.
call ducklake_set_commit_message('lake', 'assay', 'under a lease', extra_info => $lease)
