"""Lists that share their beginnings, by number."""

from __future__ import annotations

import random

from dsh_fp.wire.lists import EMPTY, Lists
from tests.wire.making import frozen


def test_equal_lists_have_one_number() -> None:
    """Whether they are the same objects or not; key order counts."""
    lists = Lists()
    a, b = frozen({"a": 1, "b": 2}), frozen({"b": 2, "a": 1})

    assert lists.add(()) == EMPTY
    assert lists.add((a, b)) == lists.add((frozen({"a": 1, "b": 2}), frozen({"b": 2, "a": 1})))
    assert lists.add((a, b)) != lists.add((b, a))
    assert lists.add((a,)) == lists.before(lists.add((a, b)))
    assert lists.members(lists.add((a, b))) == (a, b)
    assert lists.length(lists.add((a, b))) == 2
    assert lists.last(lists.add((a, b))) == lists.value_number(b)
    assert lists.last(EMPTY) == -1


def test_a_kept_object_is_not_written_again() -> None:
    """It is known by what it is; others are known by their text."""
    lists = Lists()
    kept = frozen({"a": "x"})

    number = lists.value_number(kept, keep=True)

    assert lists.value_number(kept) == number == lists.value_number(frozen({"a": "x"}))
    assert lists.value(number) is kept


def test_what_two_lists_begin_with_is_found() -> None:
    """The same as comparing them member by member, for lists of any form."""
    dice = random.Random(7)
    values = [frozen({"n": n}) for n in range(4)]
    lists = Lists()
    known: list[tuple[int, list[int]]] = [(EMPTY, [])]
    for _ in range(300):
        _, base = dice.choice(known)
        made = base[: dice.randrange(len(base) + 1)]
        made = made + [dice.randrange(4) for _ in range(dice.randrange(40))]
        known.append((lists.add([values[n] for n in made]), made))

    for _ in range(2000):
        (one, left), (other, right) = dice.choice(known), dice.choice(known)
        alike = 0
        while alike < min(len(left), len(right)) and left[alike] == right[alike]:
            alike += 1

        assert lists.common(one, other) == alike
