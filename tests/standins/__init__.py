"""Servers that stand in for services we cannot reach in a test."""
