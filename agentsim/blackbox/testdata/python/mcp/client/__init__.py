"""Stands in for the transports of the library mcp."""
