"""The console in a browser: a package, so that its files share what is started for it."""
