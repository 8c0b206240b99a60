"""What memdeck can do, use case by use case; the façade only names them."""
