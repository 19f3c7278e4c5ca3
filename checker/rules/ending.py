"""Putting counts together: FORMAT.md, "Ending"."""

from ..errors import Rejected
from ..facts import Conclusion, Count, Mixed
from ..step import Step


def disjoint_union(step: Step) -> Count:
    """Counts over regions without a common class add up.

    Premises:   of, two or more counts for one threshold and one part
    Conclusion: the count over the union of their regions
    Sound because: the classes partition the sequences.
    """
    counts = step.premises("of", Count)
    thresholds = {count.threshold for count in counts}
    if len(thresholds) != 1:
        raise Rejected("THRESHOLD", f"counts for different thresholds {sorted(thresholds)}")
    if len({count.semantics for count in counts}) != 1:
        raise Rejected("SEMANTICS", "counts over the real numbers and of floating-point programs")
    if len({count.part for count in counts}) != 1:
        raise Rejected("PART", "counts of different parts of the distribution: mixture adds them")
    step.meter.charge(sum(len(count.region) for count in counts))
    spans = sorted(span for count in counts for span in count.region)
    joined = [spans[0]]
    for m, low, high in spans[1:]:
        before = joined[-1]
        if m == before[0] and low < before[2]:
            raise Rejected("OVERLAP", f"queries {low}..{min(high, before[2]) - 1} of maximum {m} are counted twice")
        if m == before[0] and low == before[2]:
            joined[-1] = (m, before[1], high)
        else:
            joined.append((m, low, high))
    right, wrong = sum(count.right for count in counts), sum(count.wrong for count in counts)
    return Count(counts[0].threshold, tuple(joined), right, wrong, counts[0].semantics, counts[0].part)


def mixture(step: Step) -> Mixed:
    """The parts of a distribution together.

    Premises:   of, one count for each part, in their order, for one threshold
    Conclusion: the sums of share * right and of share * wrong
    Sound because: an input of mass w in a part adds share * w to the mass of the claim.
    """
    counts, parts = step.premises("of", Count), step.claim.parts
    if [count.part for count in counts] != list(range(len(parts))):
        text = f"counts of the parts {[count.part for count in counts]}, needed is each of {len(parts)} in order"
        raise Rejected("PART", text)
    if len({(count.threshold, count.semantics) for count in counts}) != 1:
        raise Rejected("THRESHOLD", f"thresholds {[count.threshold for count in counts]}, or semantics, differ")
    right = sum(share * count.right for (share, _), count in zip(parts, counts, strict=True))
    wrong = sum(share * count.wrong for (share, _), count in zip(parts, counts, strict=True))
    return Mixed(counts[0].threshold, right, wrong, counts[0].semantics)


def conclude(step: Step) -> Conclusion:
    """The bound for the whole task.

    Premises:   of, a count; a mixture if the distribution has several parts
    Conclusion: at least right and at most total - wrong of the sequences have a margin above the threshold
    Sound because: sequences outside the region may be either.
    """
    count = step.premise("of", Mixed) if len(step.claim.parts) > 1 else step.premise("of", Count)
    return Conclusion(count.threshold, count.right, step.claim.mass - count.wrong, count.semantics)
