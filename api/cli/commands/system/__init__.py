"""Commands that run and maintain an installation."""
