-- Removes what analyses of other versions than $version have found.
delete from code_answer where version <> $version
