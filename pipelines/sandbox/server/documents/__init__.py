"""The JSON and HTML that the sandbox answers with, in the forms that guests of the platform see."""
