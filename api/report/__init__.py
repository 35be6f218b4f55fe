"""A result as a page for people: one self-contained HTML file that asks the network for nothing.

Reads result documents; decides nothing about them.
"""
