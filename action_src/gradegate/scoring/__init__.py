"""Scoring: the stage that runs and scores cases, and the way to a judge."""
