"""Tests of EMF's rules."""
