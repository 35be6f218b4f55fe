"""Parameters of requests: queries and bodies, strict, with the limits that the API description
shows.
"""
