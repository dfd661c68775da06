"""The criteria: one file each, found by the registry."""
