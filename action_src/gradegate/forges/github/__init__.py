"""GitHub: checks, comments, labels."""
