"""Settings of the whole test run."""

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("tests.helpers", "tests.helpers_env")

# The first example of a kernel compiles it, so no deadline; the same examples in every run.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("house")
