"""One module per pool family, and the forms that several families share."""
