"""The notebooks of reports. A package only so that an installed Sametrack has them."""
