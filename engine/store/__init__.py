"""SQLite, and nothing else: connection, schema, history, snapshots and one repository per aggregate."""
