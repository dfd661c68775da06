"""Where pull requests live; a package for each."""
