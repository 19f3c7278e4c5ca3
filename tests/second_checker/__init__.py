"""A second checker, written from docs/FORMAT.md alone; it has not seen `checker/`.

It exists to be compared with the checker: two programs that were written apart and say the same of tens of thousands
of certificates are unlikely to share a fault, and a page from which a checker can be written leaves nothing unsaid.
Numbers are FLINT's (python-flint): integers, rationals and integer matrices, and each enclosure of an exponential must
contain the ball that Arb computes for it. Counting is by plain evaluation of every input, whatever the rule's own
method is, so it serves tiny models only. `verdict(data)` answers VERIFIED, REJECTED, MALFORMED or RESOURCE; `examine`
raises the reason. Where FORMAT.md fixes a rounding, this code rounds so; nothing else is shared.
"""

from __future__ import annotations

from second_checker.kernel import examine, verdict

__all__ = ["examine", "verdict"]
