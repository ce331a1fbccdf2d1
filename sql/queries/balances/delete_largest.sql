-- Removes a balance that is not among the largest of its token any more.
delete from largest where token_id = ? and owner = ?
