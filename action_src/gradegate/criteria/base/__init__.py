"""What criteria share."""
