"""GitHub: comment, check run, step summary, outputs, annotations."""
