"""The container's entry point: event, plan, outcome."""
