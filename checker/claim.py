"""What a certificate claims: a quantity, over a distribution of sequences, with bounds."""

from dataclasses import dataclass, replace
from math import gcd

from .errors import Exhausted, Malformed
from .model import Model
from .numbers import read_hex
from .reader import Fields, integer, items
from .task import Semantics, Task, read_semantics

LENGTH = 1 << 10
PARTS = 1 << 8
ANSWERS = 1 << 22  # of all parts, times the length: each is two products over the positions
MASS_BITS = 1 << 15  # of all inputs; a total is written with at most 8192 digits
LOSS_BITS = 40  # bounds of a log-loss are in units of 2**-LOSS_BITS nats


@dataclass(frozen=True, slots=True)
class Claim:
    """lower/total <= P(margin > threshold) <= upper/total, the margin being the right logit minus the best other.

    The inputs are a mixture of parts, which differ in masses and maxima only; a part counts `share` times its mass.
    Without a threshold, the bounds are on the mean of -log(softmax of the right token), in nats.
    """

    parts: tuple[tuple[int, Task], ...]  # share, task: usually one
    mass: int  # of all inputs
    threshold: tuple[int, int] | None  # n, e: the number n * 2**e
    lower: int
    upper: int
    total: int
    semantics: Semantics | None = None  # None: real numbers

    @property
    def uniform(self) -> bool:
        """Does every input of the task count once?"""
        return len(self.parts) == 1 and self.parts[0][1].masses is None and self.parts[0][1].maxima is None


def read_claim(fields: Fields, model: Model) -> Claim:
    """The claim, against the sizes of the model; only what FORMAT.md lists can be claimed."""
    floating = isinstance(fields.take("semantics"), dict)
    for key, only in (("architecture", "one-layer attention-only"), ("semantics", "real"))[: 1 if floating else 2]:
        if fields.text(key) != only:
            raise Malformed("UNKNOWN_CLAIM", f"{key} {fields.value[key]!r}, this version knows {only!r}").at("claim")
    semantics = read_semantics(fields.inner("semantics")) if floating else None
    task = _read_task(fields.inner("task"), model)
    parts, mass = _read_parts(fields.take("distribution"), task)
    threshold = _read_quantity(fields.inner("quantity"))
    bounds = fields.inner("bounds")
    claim = Claim(parts, mass, threshold, bounds.hex("lower"), bounds.hex("upper"), bounds.hex("total"), semantics)
    bounds.close()
    fields.close()
    total = mass if threshold is not None else 1 << LOSS_BITS
    if claim.total != total:
        raise Malformed("TOTAL", f"total {claim.total}, this claim has {total}").at(bounds.place)
    if not 0 <= claim.lower <= claim.upper or (threshold is not None and claim.upper > total):
        raise Malformed("BOUNDS", f"need 0 <= {claim.lower} <= {claim.upper} <= {total}").at(bounds.place)
    return claim


def _read_quantity(fields: Fields) -> tuple[int, int] | None:
    """The threshold of a margin; or {"log_loss": -40}."""
    if "log_loss" in fields.value:
        fields.integer("log_loss", -LOSS_BITS, -LOSS_BITS)
        fields.close()
        return None
    threshold = fields.hex("margin_above"), fields.integer("exponent", -4096, 4096)
    if threshold[0] % 2 == 0 and threshold != (0, 0):
        raise Malformed("NOT_CANONICAL", "margin_above must be odd, or 0 with exponent 0").at(fields.place)
    fields.close()
    return threshold


def _read_task(fields: Fields, model: Model) -> Task:
    kind = fields.text("kind")
    if kind not in ("max", "min"):
        raise Malformed("UNKNOWN_CLAIM", f"task {kind[:20]!r}, known are 'max' and 'min'").at(fields.place)
    sizes = model.sizes
    length = fields.integer("length", 1, LENGTH)
    tokens = fields.integer("tokens", 1, min(sizes["d_vocab"], sizes["d_vocab_out"]))
    eos = fields.take("eos")
    if eos is not None:
        eos = integer(eos, tokens, sizes["d_vocab"] - 1, f"{fields.place}.eos")
    fields.close()
    task = Task(kind, length, tokens, eos, None)
    if task.free + 1 != sizes["n_ctx"]:
        text = f"length {length} needs {task.free + 1} positions, the model has {sizes['n_ctx']}"
        raise Malformed("TASK_LENGTH", text).at(fields.place)
    return task


def _read_parts(value: object, task: Task) -> tuple[tuple[tuple[int, Task], ...], int]:
    """One product of positions, or {"parts": [{"answers", "positions", "share"}, ...]}; and the mass of all inputs."""
    if not isinstance(value, dict):
        task = replace(task, masses=_read_masses(value, task, "claim.distribution"))
        return ((1, task),), task.total
    top = Fields(value, "claim.distribution")
    given, parts, mass, work = top.items("parts"), [], 0, 0
    top.close()
    if not 0 < len(given) <= PARTS:
        raise Malformed("DISTRIBUTION", f"{len(given)} parts: 1 to {PARTS} are needed").at(top.place)
    for number, item in enumerate(given):
        fields = Fields(item, f"claim.distribution.parts[{number}]")
        masses = _read_masses(fields.take("positions"), task, f"{fields.place}.positions")
        share, part = fields.hex("share"), replace(task, masses=masses, maxima=_read_answers(fields, task))
        fields.close()
        work += len(part.maxima or ()) * task.length
        if work > ANSWERS:
            raise Exhausted("TOO_MANY_VALUES", f"given answers times positions: {work}, at most {ANSWERS}")
        total = part.total
        if share <= 0 or total == 0:
            raise Malformed("DISTRIBUTION", f"share {share}, mass {total}: both must be positive").at(fields.place)
        parts.append((share, part))
        mass += share * total
    if len(parts) == 1 and parts[0][1].maxima is None:
        raise Malformed("DISTRIBUTION", "one part without given answers: write its positions").at(top.place)
    if gcd(*(share for share, _ in parts)) != 1:
        raise Malformed("NOT_CANONICAL", "the shares have a common factor").at(top.place)
    return tuple(parts), mass


def _read_answers(fields: Fields, task: Task) -> tuple[int, ...] | None:
    """The right answers that inputs are restricted to, ascending; null for any."""
    value = fields.take("answers")
    if value is None:
        return None
    place = f"{fields.place}.answers"
    answers = [integer(item, 0, task.tokens - 1, place) for item in items(value, place)]
    if not 0 < len(answers) < task.tokens or answers != sorted(set(answers)):
        raise Malformed("DISTRIBUTION", f"{answers[:8]}: some answers, not all, ascending").at(place)
    return tuple(answers) if task.kind == "max" else tuple(task.tokens - 1 - answer for answer in reversed(answers))


def _read_masses(value: object, task: Task, where: str) -> tuple[tuple[int, ...], ...] | None:
    """ "uniform", or a non-negative weight of each token at each position, not all of a position zero."""
    if value == "uniform":
        return None
    rows = []
    for number, row in enumerate(items(value, where)):
        place = f"{where}[{number}]"
        weights = tuple(read_hex(item, place) for item in items(row, place))
        if len(weights) != task.tokens or min(weights) < 0 or not any(weights):
            raise Malformed("DISTRIBUTION", f"need {task.tokens} weights, none negative, not all zero").at(place)
        rows.append(weights[::-1] if task.kind == "min" else weights)
    if len(rows) != task.length:
        raise Malformed("DISTRIBUTION", f"{len(rows)} positions, the task has {task.length}").at(where)
    if sum(sum(row).bit_length() - 1 for row in rows) > MASS_BITS:
        raise Malformed("DISTRIBUTION", f"the mass of all inputs exceeds 2^{MASS_BITS}").at(where)
    if all(weight == 1 for row in rows for weight in row):
        raise Malformed("NOT_CANONICAL", 'all weights are 1: write "uniform"').at(where)
    return tuple(rows)
