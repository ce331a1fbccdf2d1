-- Notes the last row number of the step $step that was taken over.
insert or replace into import_progress (step, done) values ($step, $done)
