"""Models: fetched, checked, loaded, and what they are worth."""
