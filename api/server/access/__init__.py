"""One access policy for every listener: tokens, sessions, roles, the sign-in page."""
