"""Versions of what a result may depend on."""

from importlib.metadata import PackageNotFoundError, version
from platform import python_version

PROJECT = "royal-casino-lab"


def versions(*packages: str) -> dict[str, str]:
    """Python's version, this project's, and those of the packages that are installed."""
    found = {"python": python_version()}
    for package in (PROJECT, *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from its source, or not needed
            continue
    return found
