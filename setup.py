"""Adds files from outside the packages to the wheel; pyproject.toml has everything else.

The files of the API browser come from swagger-ui-py, which as a dependency would add 25 MB. npm's
lock of the demo's packages comes from the root of the checkout.
"""

from importlib.resources import files
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

_ROOT = Path(__file__).parent
_BROWSER = ("swagger-ui.css", "swagger-ui-bundle.js", "LICENSE")
_NPM = ("package.json", "package-lock.json", ".npmrc")


class BuildWithOutsideFiles(build_py):
    """Builds the packages, and copies outside files into them."""

    def run(self) -> None:
        """Build into `build_lib`. An editable install reads the checkout and needs no copies."""
        super().run()
        if self.editable_mode:
            return
        library = Path(self.build_lib)
        browser = files("swagger_ui") / "static"
        for folder, names, source in (
            ("api/pages/assets/swagger_ui", _BROWSER, browser),
            ("assay/demo/npm", _NPM, _ROOT),
        ):
            target = library / folder
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                (target / name).write_bytes((source / name).read_bytes())


setup(cmdclass={"build_py": BuildWithOutsideFiles})
