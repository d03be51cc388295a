"""Packages whose names load on first use (PEP 562)."""

import importlib
import sys


def lazily(package, homes, packages=()):
    """What such a package's `__init__` needs.

    Args:
        package: its `__name__`.
        homes: {module: names that it holds}.
        packages: names of packages inside it that can be reached as its attributes.
    Returns:
        (`__getattr__`, `__dir__`, `__all__`).
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name):
        if name in packages:
            return importlib.import_module(f"{package}.{name}")
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home[name]), name)
        setattr(sys.modules[package], name, value)  # over a module of the same name, which the import has put there
        return value

    names = sorted([*home, *packages])
    return find, lambda: names, names
