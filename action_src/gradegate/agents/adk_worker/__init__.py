"""What is started in the environment of an ADK agent; nothing of ours imports it."""
