"""Versions of what a result may depend on."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from agents.files import digest

PACKAGES = "agents", "casino_env"
PROJECT = "royal-casino-lab"


def source_digest() -> str:
    """The sources of both packages, in 16 characters."""
    root = Path(__file__).parent.parent
    return digest(*sorted(path for package in PACKAGES for path in (root / package).glob("*.py")))


def versions(*packages: str) -> dict[str, str]:
    """Python's version, this project's, and those of the packages that are installed."""
    found = {"python": python_version()}
    for package in (PROJECT, *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from its source, or not needed
            continue
    return found
