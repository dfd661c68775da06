"""Models behind an API. A provider is one file, and one line in the router."""
