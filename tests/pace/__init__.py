"""Tests of when things happen."""
