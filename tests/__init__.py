"""What is checked, and what stands in for the outside world."""
