"""Reading the platform's own app in guest mode, on an Android device that the operator runs.

Here: the screens of app versions as data, what a screen shows, how one moves through them, and the
rim to the adb server. Not here: which question is answered by the app (`providers`). Only the
accessibility tree is read: never memory, never traffic, and nothing is ever typed or logged in.
"""
