"""The simulated device: an adb server on loopback, and behind it a phone with a scripted app over
the sandbox's world. It says of itself what it is, and is never taken for a real one.
"""
