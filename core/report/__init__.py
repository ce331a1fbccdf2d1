"""The report model: reported fields, rows, verdicts, and the comparison of two reports."""
