"""The program `gough` of the wheel, and which native module suits the processor.

The program loads the native module alone: neither numpy nor the package is imported for it.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_NEEDED = {"avx2", "fma"}


def has_avx2(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor has AVX2 and FMA; where nobody says, as nearly all x86-64 processors since 2015."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    try:
        with cpuinfo.open(errors="replace") as file:
            lines = file.read(8192).splitlines()  # the first processor; the system takes its time over many
    except OSError:
        return True
    flags = next((line.split(":", 1)[1].split() for line in lines if line.startswith("flags")), None)
    return flags is None or set(flags) >= _NEEDED


def native_file(folder: Path, fast: bool) -> Path:
    """The file of the native module: the one for AVX2, or the one for any processor."""
    stems = ("_native", "_native_baseline")
    files = {stem: [folder / (stem + suffix) for suffix in EXTENSION_SUFFIXES] for stem in stems}
    there = {stem: file for stem, list_ in files.items() for file in reversed(list_) if file.exists()}
    if not there:
        raise ImportError("the native module of gough is missing; install the package again")
    if fast and "_native" in there:
        return there["_native"]
    if "_native_baseline" in there:
        return there["_native_baseline"]
    raise ImportError(
        "this wheel of gough is for processors with AVX2 and FMA, which this one lacks; build it for this machine: "
        "RUSTFLAGS='-C target-cpu=native' maturin build --release"
    )


def load(file: Path) -> ModuleType:
    """The native module in a file."""
    spec = spec_from_file_location("gough._native", file, loader=ExtensionFileLoader("gough._native", str(file)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def take_page(folder: Path) -> None:
    """Let `view` find the page that came with the wheel, unless another is named."""
    if (folder / "viewer" / "page.html").is_file():
        os.environ.setdefault("GOUGH_VIEWER", str(folder / "viewer"))


def native() -> ModuleType:
    """The native module that suits the processor, without the package."""
    package = find_spec("gough")
    folders = package.submodule_search_locations if package is not None else None
    if not folders:
        raise ImportError("the package gough is missing; install it again")
    take_page(Path(folders[0]))
    return load(native_file(Path(folders[0]), has_avx2()))


def choose(folder: Path) -> None:
    """Before the package imports its native module: take the one for any processor where this one needs it."""
    take_page(folder)
    if not has_avx2():
        sys.modules["gough._native"] = load(native_file(folder, fast=False))


def main() -> int:
    """Answer the arguments of the process; the exit status."""
    status: int = native().run(["gough", *sys.argv[1:]])
    return status
