"""Tests of PutLogEvents' rules."""
