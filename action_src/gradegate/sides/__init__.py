"""What base and head are: revisions, exports without `.git`, fingerprints."""
