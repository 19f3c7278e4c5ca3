"""Finished measurements as small JSON files, so that an interrupted run goes on where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...core.files import write_atomically

VERSION: Final = 1
"""Raised when a measurement changes its meaning: older files are then measured again."""


@dataclass(frozen=True, slots=True)
class Store:
    """Results of one model; `digest` is the model's, so that a retrained model is measured again."""

    folder: Path
    digest: str

    def read(self, name: str) -> dict[str, Any] | None:
        """A stored measurement; None if there is none of this model and version, or it cannot be read."""
        try:
            found = json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or (found.get("version"), found.get("model")) != (VERSION, self.digest):
            return None
        return dict(found["value"])

    def write(self, name: str, value: dict[str, Any]) -> None:
        """Store a measurement, whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        data = json.dumps({"version": VERSION, "model": self.digest, "value": value}, sort_keys=True)
        write_atomically(self._path(name), data.encode("utf-8"), overwrite=True)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"
