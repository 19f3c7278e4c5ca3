"""Seeds of the published training runs, and how every random stream is derived from one of them.

Source: the training configuration of "Compact Proofs of Model Performance via Mechanistic
Interpretability"; its main model has configuration seed 123 and therefore model seed 613947648.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Final

PAPER_SEEDS: Final[tuple[int, ...]] = (
    50, 104, 123, 519, 742, 913, 1185, 1283, 1412, 1490, 1681, 1696, 1895, 1951, 2236, 2306, 2345, 2549,
    2743, 2773, 3175, 3254, 3284, 4157, 4305, 4430, 4647, 4729, 4800, 4810, 5358, 5615, 5781, 5928, 6082,
    6155, 6159, 6204, 6532, 6549, 6589, 6910, 7098, 7238, 7310, 7467, 7790, 7884, 8048, 8299, 8721, 8745,
    8840, 8893, 9132, 9134, 9504, 9816, 10248, 11124, 11130, 11498, 11598, 11611, 12141, 12287, 12457,
    12493, 12552, 12561, 13036, 13293, 13468, 13654, 13716, 14095, 14929, 15043, 15399, 15622, 15662,
    16069, 16149, 16197, 16284, 17080, 17096, 17194, 17197, 18146, 18289, 18668, 19004, 19093, 19451,
    19488, 19538, 19917, 20013, 20294, 20338, 20415, 20539, 20751, 20754, 20976, 21317, 21598, 22261,
    22286, 22401, 22545, 23241, 23367, 23447, 23633, 23696, 24144, 24173, 24202, 24262, 24438, 24566,
    25516, 26278, 26374, 26829, 26932, 27300, 27484, 27584, 27671, 27714, 28090, 28716, 28778, 29022,
    29052, 29110, 29195, 29565, 29725, 29726, 30371, 30463, 30684, 30899, 31308, 32103, 32374, 32382,
)  # fmt: skip
"""The 151 configuration seeds of every study of the paper, ascending."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of one run. All but `config` are multiples of 256 below 2**32, whatever the model's shape."""

    config: int
    model: int
    dataset: int
    train: int
    test: int
    importance: int


def reseed(seed: int, label: str) -> int:
    """Derive the seed named `label` from `seed`: an unsigned 32-bit number with a zero low byte.

    The number is the little-endian reading of a zero byte and the first three bytes of the MD5 of the
    compact JSON array [seed,"label"]. MD5 is only a mixer here; nothing rests on its strength.
    """
    text = json.dumps([seed, label], separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.md5(text.encode("utf-8"), usedforsecurity=False).digest()
    return int.from_bytes(b"\x00" + digest[:3], "little")


def derive(config: int) -> Seeds:
    """All seeds of the run with this configuration seed; the data streams hang below the dataset seed."""
    dataset = reseed(config, "dataset_seed")
    return Seeds(
        config=config,
        model=reseed(config, "model"),
        dataset=dataset,
        train=reseed(dataset, "train"),
        test=reseed(dataset, "test"),
        importance=reseed(config, "importance_sample"),
    )
