"""Judging an implementation that is not ours: how it is asked, which laws it is held to.

`protocol` lists the questions, `doors` and `process` put them, `foreign` makes of the answers
what the laws ask, `judging` runs laws and vectors, `reports` tells what came of them.
"""
