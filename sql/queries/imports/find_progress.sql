-- One row, or none: the last row number of the step $step that was taken over.
select done from import_progress where step = $step
