"""Small dialogs that return a typed answer."""
