"""JSON and HTML responses of the sandbox, in the forms that guests of the platform see."""
