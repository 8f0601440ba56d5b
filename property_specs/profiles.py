"""How many cases each law is tried on.

`laws` runs with the tests, the same cases each time; `nightly` draws new ones from a seed that
the report's first lines print. Choose with `--hypothesis-profile` or the variable
DSH_FP_LAWS.
"""

from __future__ import annotations

import os
from typing import Final

from hypothesis import HealthCheck, Phase, settings

VARIABLE: Final = "DSH_FP_LAWS"
EXAMPLES: Final = 80
# Logs are built by loops over what is drawn, which hypothesis takes for slow drawing.
_CALM: Final = (HealthCheck.too_slow, HealthCheck.data_too_large)
_WITHOUT_SHRINKING: Final = (Phase.explicit, Phase.reuse, Phase.generate)


def register() -> None:
    """Make the profiles known and load the one that the environment names."""
    settings.register_profile(
        "laws",
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=_CALM,
    )
    settings.register_profile(
        "nightly",
        max_examples=30 * EXAMPLES,
        deadline=None,
        print_blob=True,
        suppress_health_check=_CALM,
    )
    # For `see_fail`: that a law fails is asked, not how small its counterexample can be made.
    settings.register_profile("see-fail", settings.get_profile("laws"), phases=_WITHOUT_SHRINKING)
    settings.load_profile(os.environ.get(VARIABLE, "laws"))


def often(factor: float) -> settings:
    """So many times the profile's number of cases: for laws that are cheap, or dear."""
    return settings(max_examples=max(1, round(settings().max_examples * factor)))
