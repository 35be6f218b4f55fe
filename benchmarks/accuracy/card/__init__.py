"""The card that shows the figures of the accuracy bench."""
