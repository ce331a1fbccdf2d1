-- Ends the session :digest.
delete from session where digest = :digest
