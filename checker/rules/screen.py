"""Which outputs can win at all in a class: FORMAT.md, "Screening". Coarse for a maximum, then fine for a class."""

from dataclasses import dataclass

from ..facts import Margins
from ..numbers import largest
from ..step import Step
from .margins import Terms

DIGITS = 32  # bits of the coarse weights; only tightness depends on it


@dataclass(frozen=True, slots=True)
class Suspect:
    """An output that may beat m, with the tokens that may speak for it, and what each says without the query's part."""

    output: int
    place: int  # the best position's difference, and the threshold
    tokens: tuple[tuple[int, int], ...]  # (t, EVOU[t,o] - EVOU[t,m] + place)
    at_m: int  # the same for token m


class Screen:
    """Suspects per maximum m for the queries of a region; narrowed for one class by `alive`.

    Every input of a class has token m at some position. A term is at most its weight times max(0, value), and at token
    m it is its weight times the value there, so with positions pessimised
        sum <= (all position weights) * top - (least position weight) * (top - at m),   top = max(0, at m, best term).
    """

    def __init__(self, given: Margins, region: tuple[tuple[int, int, int], ...], step: Step) -> None:
        self.given = given
        self.step = step
        queries: dict[int, list[int]] = {}
        for m, low, high in region:
            queries.setdefault(m, []).extend(range(low, high))
        self.suspects = {m: self._coarse(m, members) for m, members in queries.items()}
        parts = (given.direct, given.values, given.positions)
        self.spread = sum(max(max(row) - min(row) for row in part) for part in parts) + abs(given.shift)
        step.meter.count(2 * sum(len(part) * len(part[0]) for part in parts))

    def _coarse(self, m: int, queries: list[int]) -> list[Suspect]:
        """Outputs whose bound is not negative for the worst query, with the tokens that may count for some query."""
        given, task, meter = self.given, self.step.task, self.step.meter
        low, high = given.weights.token_low, given.weights.token_high
        rows = sorted({*range(m), *(task.own_row(q) for q in queries)} - {m})
        sure = all(low[q][m] > 0 for q in queries)
        most = [max(-(-(high[q][t] << DIGITS) // low[q][m]) for q in queries) if sure else 0 for t in rows]
        bits = given.weights.bits
        lightest = min(min(given.weights.position_low[q]) for q in queries) << DIGITS >> bits
        total = sum(-(-n << DIGITS >> bits) for n in largest([given.weights.position_high[q] for q in queries]))
        direct = largest([[n - given.direct[q][m] for n in given.direct[q]] for q in queries])
        position = [n + given.shift for n in largest([[n - row[m] for n in row] for row in given.positions])]
        seen = len(queries) + len(given.positions) + len(rows) + 3
        meter.count(2 * len(direct) * seen + 2 * len(rows) * len(queries))
        found = []
        for o, (query_part, place) in enumerate(zip(direct, position, strict=True)):
            need = -query_part - place
            found_at = ((t, w, given.values[t][o] - given.values[t][m]) for t, w in zip(rows, most, strict=True))
            speakers = [(t, w, x) for t, w, x in found_at if x > need]
            at_m = given.values[m][o] - given.values[m][m]
            low_end = (at_m - need) << DIGITS
            top = max((0, low_end, *((x - need) * w for _, w, x in speakers)))
            bound = total * top - lightest * (top - low_end)
            meter.count(2 * len(speakers))
            if o != m and (bound >= 0 or not sure):
                found.append(Suspect(o, place, tuple((t, x + place) for t, _, x in speakers if t <= m), at_m + place))
        return found

    def alive(self, q: int, m: int, weight: Terms) -> list[int]:
        """Suspects that may win in class (q, m): the same bound with this query's own weights and values."""
        given, task = self.given, self.step.task
        own, holds = task.own_row(q), task.holds_max(q, m)
        total, light = sum(weight.position[:-1]), min(weight.position[:-1], default=0)
        slack = len(given.positions) * self.spread * weight.radius  # no logit difference exceeds the spread
        result = []
        for suspect in self.suspects[m]:
            o = suspect.output
            base = given.direct[q][o] - given.direct[q][m]
            low_end = weight.token[m] * (suspect.at_m + base)
            top = max((0, low_end, *(weight.token[t] * (x + base) for t, x in suspect.tokens)))
            at_own = given.values[own][o] - given.values[own][m] + suspect.place + base
            bound = total * top + weight.position[-1] * weight.own * at_own
            if not holds:
                bound -= light * (top - low_end)
            self.step.meter.count(3 * len(suspect.tokens) + 14)
            if bound + slack >= 0:
                result.append(o)
        return result
