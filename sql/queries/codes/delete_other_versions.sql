-- Removes some results of the static analysis of other versions than $version.
delete from code_answer
where code_key in (
    select code_key from code_answer
    where version < $version or version > $version
    limit $at_most
)
