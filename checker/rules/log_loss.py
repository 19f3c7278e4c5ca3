"""The mean log-loss from counts at several thresholds: FORMAT.md, "Log-loss"."""

from collections.abc import Sequence
from itertools import pairwise

from ..claim import LOSS_BITS
from ..errors import Malformed, Rejected
from ..facts import Conclusion, Count, Mixed
from ..numbers import Exp, read_hex
from ..step import Step

BITS, FINE, GRID = 96, 96, 512  # bits of exp; fractional bits of its argument: at least, at most


def log_loss(step: Step) -> Conclusion:
    """loss = log(1 + sum over o != m of exp(y_o - y_m)), between l(M) and u(M) for the margin M.

    l(M) = log(1 + exp(-M)), u(M) = log(1 + (outputs - 1) exp(-M)).

    Premises:   of, counts (mixtures, if the distribution has several parts) for ascending thresholds r_0 < r_1 < ...;
                the first has every input right
    Arguments:  upper and lower, a number for each, in units of 2**-LOSS_BITS: upper[i] >= u(r_i), lower[i] <= l(r_i)
    Conclusion: mean loss <= upper[0] - sum_i right_i (upper[i-1] - upper[i]) / total, and
                mean loss >= sum_i wrong_i (lower[i] - lower[i+1]) / total
    Sound because: an input with r_i < M <= r_{i+1} has a loss of at most upper[i] and at least lower[i+1].
    """
    several = len(step.claim.parts) > 1
    counts: Sequence[Count | Mixed] = step.premises("of", Mixed) if several else step.premises("of", Count)
    others, mass = step.model.sizes["d_vocab_out"] - 1, step.claim.mass
    if any(count.semantics is not None for count in counts):
        raise Rejected("SEMANTICS", "the log-loss of a floating-point program is not covered")
    if counts[0].right != mass:
        raise Rejected("LOSS_FLOOR", f"the first threshold holds for {counts[0].right} of {mass} inputs, not for all")
    upper, lower = (step.fields.each(key, read_hex) for key in ("upper", "lower"))
    if not len(upper) == len(lower) == len(counts):
        raise Malformed("VECTOR_LENGTH", f"{len(upper)} and {len(lower)} numbers for {len(counts)} counts")
    grid = max(FINE, *(-count.threshold[1] for count in counts))
    if grid > GRID:
        raise Malformed("OUT_OF_RANGE", f"a threshold is finer than 2^-{GRID}")
    points = [n << grid + e for n, e in (count.threshold for count in counts)]
    exp = Exp(BITS, grid, step.meter)
    if not all(a < b for a, b in pairwise(points)):
        raise Rejected("THRESHOLD", "thresholds must ascend")
    if not all(a >= b >= 0 for bounds in (upper, lower) for a, b in pairwise(bounds)):
        raise Rejected("LOSS_BOUND", "upper and lower must not ascend, nor be negative")
    for r, high, low in zip(points, upper, lower, strict=True):
        at_u, at_l = high << grid - LOSS_BITS, low << grid - LOSS_BITS
        # v >= log(1 + c exp(-r)) iff exp(-v) + c exp(-v - r) <= 1
        if at_u + r < 0 or exp.end(at_u, True) + others * exp.end(at_u + r, True) > 1 << BITS:
            raise Rejected(
                "LOSS_BOUND", f"upper {high} is not shown to be at least the loss of a margin {r} * 2^-{grid}"
            )
        if at_l + r >= 0 and exp.end(at_l, False) + exp.end(at_l + r, False) < 1 << BITS:
            raise Rejected("LOSS_BOUND", f"lower {low} is not shown to be at most the loss of a margin {r} * 2^-{grid}")
    most = upper[0] * mass - sum(c.right * (a - b) for c, (a, b) in zip(counts[1:], pairwise(upper), strict=True))
    least = sum(c.wrong * (a - b) for c, (a, b) in zip(counts, pairwise((*lower, 0)), strict=True))
    return Conclusion(None, least // mass, -(-most // mass))
