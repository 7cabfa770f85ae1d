"""How a report leaves Assay: functions from a report to text, pure and with no state."""
