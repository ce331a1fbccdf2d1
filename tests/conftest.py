"""What holds for every test: where chance comes from."""

import os

from hypothesis import settings

# CI judges a commit, so it must judge the same one the same way twice. A person's run explores.
# No deadlines: how long an example takes says more about the machine than about the code.
settings.register_profile("explore", deadline=None)
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("explore")
if os.environ.get("CI"):
    settings.load_profile("ci")
