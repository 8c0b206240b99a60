"""The commands of the shell, one module per group; tui.cli loads a module when one of its commands is called."""
