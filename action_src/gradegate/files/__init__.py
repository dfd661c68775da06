"""Our files, read with line and column."""
