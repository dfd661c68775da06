"""The page: what its script is handed, the script itself, and the charts beside the scores."""
