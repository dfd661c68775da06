"""How often the gate cries wolf, what it finds, and what that costs: measured, not hoped."""
