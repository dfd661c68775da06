"""Measurements that stand behind the figures in docs/."""
