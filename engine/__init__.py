"""memdeck: a local-first memory for LLM agents that its owner can see, review and correct."""
