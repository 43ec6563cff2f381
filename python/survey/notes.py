"""What was found, explained: (hook, promise) -> why. Each was tried by hand."""

NOTES = {}
