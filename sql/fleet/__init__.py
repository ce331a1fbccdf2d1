"""Tables that several processes coordinate through: analysis runs, inquiries, change feed."""
