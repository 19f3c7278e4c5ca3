"""Writing files so that a reader sees the old one or the new one, never a part."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence

from .errors import CompactProofsError

FilePath = str | os.PathLike[str]
OVERWRITE = "pass overwrite=True"
"""What to do about a file that exists, in Python; the commands say --force instead."""


def check_target(path: FilePath, overwrite: bool, inputs: Sequence[FilePath] = ()) -> str:
    """The real path to write to; refuses inputs always and existing files without `overwrite`.

    Errors: FILE_IS_INPUT, FILE_NOT_REGULAR, FILE_EXISTS.
    """
    target = os.path.realpath(path)  # a link is followed once, so that it stays a link to the new file
    shown = os.fspath(path)
    for source in inputs:
        if os.path.exists(target) and os.path.exists(source) and os.path.samefile(target, source):
            raise CompactProofsError("FILE_IS_INPUT", "output and input are the same file; choose another", shown)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise CompactProofsError("FILE_WRITE", f"cannot write: there is no folder {folder}; make it first", shown)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CompactProofsError("FILE_WRITE", f"cannot write: no permission for the folder {folder}", shown)
    if os.path.lexists(target) and not os.path.isfile(target):
        raise CompactProofsError("FILE_NOT_REGULAR", "exists and is not a regular file; choose another output", shown)
    if os.path.lexists(target) and not overwrite:
        raise CompactProofsError("FILE_EXISTS", f"the file exists; choose another output or {OVERWRITE}", shown)
    return target


def make_folder(path: FilePath, why: str) -> None:
    """Make a folder that is not there yet; `why` begins the message if that fails. Errors: NOT_A_FOLDER."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as fault:
        raise CompactProofsError("NOT_A_FOLDER", f"{why}: {reason(fault)}", os.fspath(path)) from None


def write_atomically(
    path: FilePath,
    data: bytes,
    overwrite: bool = False,
    inputs: Sequence[FilePath] = (),
    accept: Callable[[str], None] | None = None,
) -> None:
    """Write beside the target, let `accept` inspect the finished file (it raises to refuse), then rename.

    Errors: those of `check_target`, FILE_WRITE, and whatever `accept` raises.
    """
    target = check_target(path, overwrite, inputs)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except (OSError, ValueError) as fault:
            raise CompactProofsError("FILE_WRITE", f"cannot write: {reason(fault)}", os.fspath(path)) from None
        if accept is not None:
            accept(temporary)
        if not overwrite:
            os.link(temporary, target)  # fails if somebody made the file meanwhile; renaming would not
        else:
            os.replace(temporary, target)
    except FileExistsError:
        text = "the file appeared meanwhile; nothing written"
        raise CompactProofsError("FILE_EXISTS", text, os.fspath(path)) from None
    except OSError as fault:
        raise CompactProofsError("FILE_WRITE", f"cannot write: {reason(fault)}", os.fspath(path)) from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


def reason(error: OSError | ValueError) -> str:
    """The system's words, without the path that the caller adds."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
