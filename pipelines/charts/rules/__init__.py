"""The rules of the chart: nodes of its history, back-fill plan, song links, lead over the
platform.
"""
