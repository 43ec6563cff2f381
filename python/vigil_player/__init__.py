"""Plays scenarios of vigil on the TensorFlow that is installed: see README.md."""
