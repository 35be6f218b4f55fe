"""Extensions: routes beyond the sixteen endpoints of the interface."""
