-- Says in the commit of this transaction by which lease it is.
call lake.set_commit_message('assay', 'under a lease', extra_info => $lease)
