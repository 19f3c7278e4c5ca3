"""A folder that appears complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from ...core.errors import CompactProofsError
from ...core.files import reason

OF_LAKE = (".lake", "lake-manifest.json")
"""What `lake` makes beside the files; it is carried over when an export is replaced."""


def check_folder(path: str, force: bool) -> Path:
    """The folder to write. Errors: FOLDER_EXISTS, FOLDER_FOREIGN."""
    target = Path(os.path.realpath(path))
    if not os.path.lexists(target):
        return target
    if not force:
        raise CompactProofsError("FOLDER_EXISTS", "exists; choose another folder or add --force", path)
    if not target.is_dir() or (any(target.iterdir()) and not (target / "Export" / "Claim.lean").is_file()):
        raise CompactProofsError("FOLDER_FOREIGN", "is not an export of this command; choose another folder", path)
    for found in sorted(target.rglob("*")):
        part = found.relative_to(target).parts
        if part[0] not in OF_LAKE and not found.is_dir() and not _ours(part):
            text = f"holds {'/'.join(part)}, which is not of this command; move it away or choose another folder"
            raise CompactProofsError("FOLDER_FOREIGN", text, path)
    return target


def _ours(part: tuple[str, ...]) -> bool:
    if len(part) == 1:
        return part[0] in ("lakefile.toml", "lean-toolchain")
    return len(part) == 2 and part[0] in ("Export", "CompactProofs") and part[1].endswith(".lean")


def write_folder(path: str, files: Mapping[str, str], force: bool = False) -> int:
    """Write all files beside the target, then rename; the size in bytes. Errors: those above, FILE_WRITE."""
    target = check_folder(path, force)
    mark = secrets.token_hex(4)
    new, old = (target.with_name(f".{target.name}.{mark}.{kind}") for kind in ("tmp", "old"))
    try:
        size = _fill(new, files)
        if target.exists():
            os.rename(target, old)
        try:
            os.rename(new, target)
        except OSError:
            if old.exists():
                os.rename(old, target)
            raise
        for name in OF_LAKE:
            if (old / name).exists():
                os.rename(old / name, target / name)
    except (OSError, ValueError) as error:
        raise CompactProofsError("FILE_WRITE", f"cannot write: {reason(error)}", path) from None
    finally:
        for leftover in (new, old):
            if target.exists():
                shutil.rmtree(leftover, ignore_errors=True)
    return size


def _fill(folder: Path, files: Mapping[str, str]) -> int:
    """All files, on disk."""
    size = 0
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8")
        with open(place, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        size += len(data)
    return size
