"""Routes of our own, beside the sixteen endpoints of the interface."""
