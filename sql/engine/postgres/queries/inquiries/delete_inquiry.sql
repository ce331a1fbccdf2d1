-- Deletes $inquiry: its asker waits no longer.
delete from inquiry where inquiry = $inquiry
