"""What holds for every test: where chance comes from."""

import os

from hypothesis import settings

# CI judges a commit, so it must judge the same one the same way twice. A person's run explores.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
