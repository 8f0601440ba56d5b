"""What a log would have been: events dropped, replaced or inserted, and everything folded again."""

from dsh_fp.core.what_if.asking import WhatIf, what_if
from dsh_fp.core.what_if.carrying import Numbering
from dsh_fp.core.what_if.edits import Drop, Edit, Insert, Replace
from dsh_fp.core.what_if.effects import RequestChange
from dsh_fp.core.what_if.pairs import LostPair

__all__ = [
    "Drop",
    "Edit",
    "Insert",
    "LostPair",
    "Numbering",
    "Replace",
    "RequestChange",
    "WhatIf",
    "what_if",
]
