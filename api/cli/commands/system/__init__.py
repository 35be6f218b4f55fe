"""The commands that run and maintain an installation."""
