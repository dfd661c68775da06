"""An index of packages without content, which cost nothing to install."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.integration.adk import write


def small_index(folder: Path, packages: Mapping[str, str]) -> str:
    """Make one of these names and versions; where uv finds it."""
    for name, version in packages.items():
        wheel = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        page = {f"{name}/index.html": f'<a href="../{wheel}">{wheel}</a>'}
        add_wheel(write(folder, page) / wheel, name, version)
    return folder.as_uri()


def add_wheel(file: Path, name: str, version: str) -> None:
    """A package that is nothing but its name and version."""
    about = f"{file.name.partition('-py3')[0]}.dist-info"
    contents = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    listed = "".join(f"{about}/{each},,\n" for each in (*contents, "RECORD"))
    with zipfile.ZipFile(file, "w") as wheel:
        for each, text in {**contents, "RECORD": listed}.items():
            wheel.writestr(f"{about}/{each}", text)
