"""Builds the wheel of the tidemark package, so that `pip install ./python` needs neither a network nor another tool.

The package is plain Python: its wheel contains its files and the ones that describe them. The name, the version and the rest
come from pyproject.toml.
"""

from __future__ import annotations

import base64
import hashlib
import io
import pathlib
import tarfile
import tomllib
import zipfile
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "tidemark"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel


def _project() -> dict[str, Any]:
    with open(HERE / "pyproject.toml", "rb") as f:
        project: dict[str, Any] = tomllib.load(f)["project"]
    return project


def _package_files() -> list[pathlib.Path]:
    return sorted(p for p in (HERE / PACKAGE).iterdir() if p.suffix == ".py" or p.name == "py.typed")


def _metadata(project: dict[str, Any]) -> str:
    return (f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
            f"Summary: {project['description']}\nRequires-Python: {project['requires-python']}\n")


def _entry_points(project: dict[str, Any]) -> str:
    groups = project.get("entry-points", {})
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
                     for group, entries in groups.items())


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return []


get_requires_for_build_sdist = get_requires_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    info = f"{stem}.dist-info"
    files = {f"{PACKAGE}/{p.name}": p.read_bytes() for p in _package_files()}
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tidemark\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = _entry_points(project).encode()
    files[f"{info}/top_level.txt"] = f"{PACKAGE}\n".encode()
    record = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(content)}\n")
    record.append(f"{info}/RECORD,,\n")
    files[f"{info}/RECORD"] = "".join(record).encode()

    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    name = f"{stem}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        metadata = _metadata(project).encode()
        entry = tarfile.TarInfo(f"{stem}/PKG-INFO")
        entry.size = len(metadata)
        archive.addfile(entry, io.BytesIO(metadata))
        for path in [HERE / "pyproject.toml", pathlib.Path(__file__).resolve(), *_package_files()]:
            archive.add(path, f"{stem}/{path.relative_to(HERE)}")
    return name
