"""The notebooks. A package only so that an installed Sametrack has them."""
