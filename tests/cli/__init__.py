"""The command `dsh-fp`, as a person and as a program meet it."""
