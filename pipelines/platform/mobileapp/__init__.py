"""Reads the platform's own app in guest mode, on an Android device that the operator runs.

Here: the screens of app versions as data, what a screen shows, how the reader moves through them,
and the adapter to the adb server. Not here: which question is answered by the app (`providers`).
Only the accessibility tree is read: never memory, never traffic. Nothing is typed, and the reader
never logs in.
"""
