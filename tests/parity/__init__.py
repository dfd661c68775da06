"""Our scores beside google-adk's, which is installed apart and never imported here."""
