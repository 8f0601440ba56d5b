"""The laws: one law is one name, one sentence, one property, for any implementation.

`core` says what an implementation has to answer, `generators` make the cases, `models` are
slow and obvious oracles on plain lists and dicts. `INDEX.md` lists every law.
"""
