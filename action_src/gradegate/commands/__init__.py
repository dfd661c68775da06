"""What each command does, one module a family; `gradegate.cli` only reads the words."""
