"""Request parameters: strict query and body models, with the limits shown in the API
description.
"""
