"""A claim in words; numbers are rounded the safe way."""

from dataclasses import replace

from .claim import LOSS_BITS, Claim


def percent(count: int, total: int) -> str:
    """count/total in per cent, rounded down to six decimals."""
    millionths = count * 10**8 // total
    return f"{millionths // 10**6}.{millionths % 10**6:06} %"


def nats(n: int, up: bool = False) -> str:
    """n / 2**LOSS_BITS with six decimals, rounded down, or up."""
    millionths = -(-n * 10**6 >> LOSS_BITS) if up else n * 10**6 >> LOSS_BITS
    return f"{millionths // 10**6}.{millionths % 10**6:06}"


def words(claim: Claim) -> str:
    """The claim as a sentence."""
    (_, task), *others = claim.parts
    what = "largest" if task.kind == "max" else "smallest"
    query = "" if task.eos is None else f", followed by token {task.eos} as query"
    inputs = "inputs"
    if others:
        inputs = f"units of probability, shared by a mixture of {len(claim.parts)} distributions that --show prints"
    elif task.masses is not None:
        chances = tuple(tuple(min(weight, 1) for weight in row) for row in task.masses)
        possible, every = replace(task, masses=chances).total, replace(task, masses=None).total
        shared = "equally" if all(len({*row} - {0}) == 1 for row in task.masses) else "unequally"
        inputs = f"units of probability, shared {shared} by {possible} of {every} inputs"
        if possible == task.total:  # all weights are 0 or 1
            inputs = f"equally likely inputs out of {every}"
    if not others and task.maxima is not None:
        inputs += f" whose {what} token is one of {len(task.maxima)} given ones"
    if claim.threshold is None:
        ends = f"between {nats(claim.lower)} and {nats(claim.upper, up=True)} nats"
        return (
            f"over the real numbers, the mean log-loss of the model on the {what} of {task.length} tokens out of"
            f" {task.tokens}{query} is {ends}, over {claim.mass} {inputs}"
        )
    n, exponent = claim.threshold
    margin = "" if n == 0 else f" by a margin above {n} * 2^{exponent}"
    exactly = "exactly" if claim.lower == claim.upper else "at least"
    where = "over the real numbers" if claim.semantics is None else claim.semantics.text
    text = (
        f"{where}, the model gives the {what} of {task.length} tokens out of {task.tokens}{query}{margin}"
        f" on {exactly} {claim.lower} of {claim.total} {inputs} ({percent(claim.lower, claim.total)})"
    )
    if claim.upper in (claim.lower, claim.total):
        return text
    wrong = claim.total - claim.upper
    return f"{text}, and does not on at least {wrong} ({percent(wrong, claim.total)})"
