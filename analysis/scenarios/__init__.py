"""What is played on stage: one question a file, answered by what the chain then did."""
