"""Neighbours for tests: real servers on loopback, written independently of the program."""
