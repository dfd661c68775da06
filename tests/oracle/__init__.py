"""How suspects were run before: what `wanted_runs` and `compare` are held against."""
