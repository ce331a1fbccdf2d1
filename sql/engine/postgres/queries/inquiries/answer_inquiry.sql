-- One row if $holder still had $inquiry, which is answered with this.
update inquiry set answer = $answer, holder = null, expires_at = null
where inquiry = $inquiry and holder = $holder
returning inquiry
