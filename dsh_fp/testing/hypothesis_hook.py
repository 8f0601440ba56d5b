"""The entry point that hypothesis calls when it is loaded: `st.from_type(Session)` works then.

It must cost nothing, for it runs in every process that has hypothesis, whatever is tested
there. So nothing is imported: a type is registered when its own module is loaded, and its
strategy is made when somebody asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType
from typing import Any, Final

_HOMES: Final = MappingProxyType(
    {"dsh_fp.core.events": ("Event", "SessionHeader"), "dsh_fp.core.session": ("Session",)}
)
_STRATEGIES: Final = MappingProxyType(
    {"Event": "event_values", "SessionHeader": "session_headers", "Session": "sessions"}
)


def register() -> None:
    """Make the types known to hypothesis, now or as soon as they are loaded."""
    for home in _HOMES:
        if _is_loaded(home):
            _register_types_of(sys.modules[home])
    if not all(map(_is_loaded, _HOMES)) and not any(map(_is_ours, sys.meta_path)):
        sys.meta_path.insert(0, _Watch())


def _is_loaded(home: str) -> bool:
    """Whether a module has been run to its end; hypothesis may be loaded in the midst of it."""
    module = sys.modules.get(home)
    return module is not None and all(hasattr(module, name) for name in _HOMES[home])


def _is_ours(finder: object) -> bool:
    return isinstance(finder, _Watch)


def _register_types_of(module: ModuleType) -> None:
    from hypothesis import strategies as st  # noqa: PLC0415  # it is loaded, or nobody calls this

    def strategy_for(kind: type[Any]) -> st.SearchStrategy[Any]:
        from dsh_fp.testing import strategies  # noqa: PLC0415  # not before somebody asks

        made: st.SearchStrategy[Any] = getattr(strategies, _STRATEGIES[kind.__name__])()
        return made

    for name in _HOMES[module.__name__]:
        st.register_type_strategy(getattr(module, name), strategy_for)


class _Watch(MetaPathFinder):
    """Finds what the other finders find, and is told when one of our modules is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of one of our modules, its loader wrapped; of nothing else."""
        if fullname not in _HOMES:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None
            if finder is not self and find is not None:
                spec = find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Registering(spec.loader)
                return spec
        return None


class _Registering(Loader):
    """A module's own loader, and after it the registration; nothing of this stays behind."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """What the own loader makes."""
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module as its own loader does, then register its types."""
        module.__loader__ = self._own
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        self._own.exec_module(module)
        _register_types_of(module)
        if all(map(_is_loaded, _HOMES)):
            sys.meta_path[:] = [finder for finder in sys.meta_path if not _is_ours(finder)]
