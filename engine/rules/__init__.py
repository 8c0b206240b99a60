"""Pure functions: the rules of memdeck, with no input or output of their own."""
