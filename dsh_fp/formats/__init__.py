"""Logs as the released runtimes write them: where they are, what contains them, what they hold."""
