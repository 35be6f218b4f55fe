"""Tables to take along: which tables an answer holds, and files made of them."""
