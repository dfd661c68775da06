"""A small repository with a pull request, for `gradegate demo`."""
