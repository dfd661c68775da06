"""The SQLite file that keeps every finished unit."""
