"""From a report to what people read: view model, templates, size budgets."""
