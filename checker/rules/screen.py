"""Which outputs can win at all in a class: FORMAT.md, "Screening". Coarse for a maximum, then fine for a class."""

from operator import mul

from ..facts import Margins
from ..step import Step
from .margins import Terms

DIGITS = 32  # bits of the coarse weights; only tightness depends on it


class Screen:
    """Outputs that may beat m for some query of the region, per maximum m; narrowed for one class by `alive`."""

    def __init__(self, given: Margins, region: tuple[tuple[int, int, int], ...], step: Step) -> None:
        self.given = given
        self.step = step
        self.outputs: dict[int, list[int]] = {}
        maxima: dict[int, list[int]] = {}
        for m, low, high in region:
            maxima.setdefault(m, []).extend(range(low, high))
        for m, queries in maxima.items():
            self.outputs[m] = self._coarse(m, queries)

    def _coarse(self, m: int, queries: list[int]) -> list[int]:
        """Outputs o whose bound is not negative, for the worst query and the worst position.

        A sequence has token m somewhere, and tokens below or equal to m (or the query's own) elsewhere, so its sum is
        at most f(m) * (least or largest position weight) + (positions - 1) * max(0, max f) * (largest position
        weight), where f(t) bounds weight(t) / weight(m) * (logit difference) over queries and positions.
        """
        given, task, one = self.given, self.step.task, 1 << DIGITS
        rows = sorted({*range(m + 1), *(task.own_row(q) for q in queries)})
        low, high = given.weights.token_low, given.weights.token_high
        if any(low[q][m] == 0 for q in queries):
            return [o for o in range(len(given.values[0])) if o != m]
        least = [min((low[q][t] << DIGITS) // high[q][m] for q in queries) for t in rows]
        most = [max(-(-(high[q][t] << DIGITS) // low[q][m]) for q in queries) for t in rows]
        bits = given.weights.bits
        lightest = min(min(given.weights.position_low[q]) for q in queries) * one >> bits
        heaviest = [-(-max(column) * one >> bits) for column in zip(*(given.weights.position_high[q] for q in queries))]
        positions = [max(column) for column in zip(*([n - row[m] for n in row] for row in given.positions))]
        direct = [max(column) for column in zip(*([n - given.direct[q][m] for n in given.direct[q]] for q in queries))]
        outputs = len(positions)
        meter = self.step.meter
        meter.count(2 * len(rows) * (len(queries) + outputs) + outputs * 2 * (len(queries) + len(given.positions)))
        base = [d + p + given.shift for d, p in zip(direct, positions)]
        top = [0] * outputs
        at_m = top
        for t, small, large in zip(rows, least, most):
            row = given.values[t]
            bias = row[m]
            bound = [c * large if (c := n - bias + b) > 0 else c * small for n, b in zip(row, base)]
            top = list(map(max, top, bound))
            if t == m:
                at_m = bound
        sure = [f * (max(heaviest) if f > 0 else lightest) for f in at_m]
        others = sum(heaviest) - min(heaviest)
        return [o for o in range(outputs) if o != m and sure[o] + others * top[o] >= 0]

    def alive(self, q: int, m: int, weight: Terms) -> list[int]:
        """Outputs that may win in class (q, m): the same bound with this query's weights and all positions' sum."""
        given, own = self.given, self.step.task.own_row(q)
        holds = self.step.task.holds_max(q, m)
        total, light = sum(weight.position[:-1]), min(weight.position[:-1], default=0)
        result = []
        for o in self.outputs[m]:
            positions = [row[o] - row[m] for row in given.positions]
            base = given.direct[q][o] - given.direct[q][m] + given.shift + max(positions)
            values = [row[o] - row[m] + base for row in given.values[: m + 1]]
            own_value = given.values[own][o] - given.values[own][m] + base
            best = max(map(mul, weight.token, values))
            bound = total * best + weight.position[-1] * weight.own * own_value
            if not holds:
                bound += light * (weight.token[m] * values[m] - best)
            spread = max(positions) - min(positions)
            largest = max(max(map(abs, values)), abs(own_value)) + spread
            if bound + len(positions) * largest * weight.radius >= 0:
                result.append(o)
        self.step.meter.count(len(self.outputs[m]) * (4 * m + 2 * len(given.positions) + 12))
        return result
