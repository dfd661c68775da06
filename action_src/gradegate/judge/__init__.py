"""One question to a model, and the votes it comes to."""
