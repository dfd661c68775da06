"""Answerers: the models that stand behind `ask`."""
