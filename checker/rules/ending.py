"""Putting counts together: FORMAT.md, "Ending"."""

from ..errors import Rejected
from ..facts import Conclusion, Count
from ..step import Step


def disjoint_union(step: Step) -> Count:
    """Counts over regions without a common class add up.

    Premises:   of, two or more counts for one threshold
    Conclusion: the count over the union of their regions
    Sound because: the classes partition the sequences.
    """
    counts = step.premises("of", Count)
    thresholds = {count.threshold for count in counts}
    if len(thresholds) != 1:
        raise Rejected("THRESHOLD", f"counts for different thresholds {sorted(thresholds)}")
    if len({count.semantics for count in counts}) != 1:
        raise Rejected("SEMANTICS", "counts over the real numbers and of floating-point programs")
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
    return Count(counts[0].threshold, tuple(joined), right, wrong, counts[0].semantics)


def conclude(step: Step) -> Conclusion:
    """The bound for the whole task.

    Premises:   of, a count
    Conclusion: at least right and at most total - wrong of the sequences have a margin above the threshold
    Sound because: sequences outside the region may be either.
    """
    count = step.premise("of", Count)
    return Conclusion(count.threshold, count.right, step.task.total - count.wrong, count.semantics)
