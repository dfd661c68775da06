"""Loads the agent, holds the conversations, and tells what happened in them."""
