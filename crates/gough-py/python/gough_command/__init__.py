"""The program `gough` of the wheel. It loads the native module alone: neither numpy nor the package is imported for it."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def _native_file() -> Path:
    package = find_spec("gough")
    folders = package.submodule_search_locations if package is not None else None
    for folder in folders or []:
        for suffix in EXTENSION_SUFFIXES:
            file = Path(folder, "_native" + suffix)
            if file.exists():
                return file
    raise ImportError("the native module of gough is missing; install the package again")


def native() -> ModuleType:
    """The native module of the package, alone."""
    file = _native_file()
    spec = spec_from_file_location("gough._native", file, loader=ExtensionFileLoader("gough._native", str(file)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    """Answer the arguments of the process; the exit status."""
    status: int = native().run(["gough", *sys.argv[1:]])
    return status


if __name__ == "__main__":
    sys.exit(main())
