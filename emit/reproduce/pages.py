"""The text of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.ablation import CIRCUITS
from ...core.grid import choice
from .bounds import GAP, SOUND, TIGHT
from .claims import Claim
from .collect import StudyResult
from .numbers import spread
from .studies import STUDIES, Plan
from .tables import Table

CAPTIONS = {
    "figure-3": "Figure 3. Normalised bound against estimated FLOPs; of every model the proofs on its Pareto frontier. "
    "In brackets: mean ± standard deviation of each model's best.",
    "figure-4": "Figure 4. Normalised bound against σ₁/σ₂ of EQKE; of every model and attention-error option the best "
    "over the other options. Our svd bounds each row's norm instead of σ₁, so that it leans less on the ratio.",
    "figure-5": "Figure 5. Unexplained dimensions against estimated FLOPs, one point for each kind of proof.",
    "figure-6": "Figure 6. As Figure 3, for the other configurations; accuracy as in their tables.",
    "figure-7": "Figure 7. As Figure 4, for the other configurations; line: least squares through the published svd.",
    "figure-9": "Figure 9. The QK circuit of the main model: averaged EQKE and EQKP.",
    "figure-10": "Figure 10. The OV circuit and the direct path of the main model: averaged EVOU, PVOU, EU.",
    "figure-20": "Figure 20. Certified sequences by the smallest gap at which their class passes (main model).",
    "figure-21": "Figure 21. Entries of the four residual factors of EQKE, with the normal curve (main model).",
    "figure-22": "Figure 22. Figure 3 again: the frontier above, all strategies below.",
    "figure-3-as-published": "Figure 3 with the published rules: estimates, not proofs (of models with all of them).",
}


def page(
    plan: Plan, results: Sequence[StudyResult], tables: Sequence[Table], figures: Sequence[str], found: Sequence[Claim]
) -> str:
    """README.md."""
    parts = [
        "# Reproduction of the paper's evaluation\n",
        _introduction(plan, results),
        "## Paper says, we get\n",
        _claims_table(found),
    ]
    for table in tables:
        if not table.name.startswith("strategies-"):
            parts += [f"## {_title(table.name)}\n", f"{table.caption} [CSV]({table.name}.csv)\n", table.markdown()]
            if table.name == "table-6":
                parts += [f"![{name}]({name}.png)\n" for name in figures if name.startswith("table-6-")]
    parts.append("## Figures\n")
    for name in figures:
        if not name.startswith("table-6-"):
            parts.append(f"![{name}]({name}.png)\n\n{CAPTIONS[name]} [SVG]({name}.svg)\n")
    names = [t.name for t in tables if t.name.startswith("strategies-")]
    if names:
        parts.append("## All strategies, one by one\n")
        parts.append("Of the first model of each configuration: " + ", ".join(f"[{n}]({n}.csv)" for n in names) + ".\n")
    return "\n".join(parts)


def _title(name: str) -> str:
    return name.replace("-", " ").capitalize()


def command(plan: Plan) -> str:
    """The command line that makes this report."""
    words = ["compactproofs reproduce"]
    words += [f"--study {s.name}" for s in plan.studies] if len(plan.studies) < len(STUDIES) else []
    words += plan.models.options("count") + plan.checked.options("checked") + plan.published.options("published")
    words += plan.two_sided.options("two-sided")
    return " ".join([*words, "-o docs/reproduction"])


def _introduction(plan: Plan, results: Sequence[StudyResult]) -> str:
    seeds = "; ".join(f"{r.study.title}: {len(r.models)}" for r in results)
    checked = sum(row.verified for r in results for m in r.models for row in m.rows.values())
    rows = sum(row.edition != "as-published" for r in results for m in r.models for row in m.rows.values())
    return f"""Made by

    {command(plan)}

which trains what is missing, proves, and can be stopped and started again. Models, with seed 123 and then the paper's
other seeds in ascending order: {seeds}.
They come from our own trainer, so they are other models than the paper's: agreement is to be expected in kind and size,
not in digits.

Every bound in the column "bound" is a proof over the real numbers: a certificate was built for each of {rows}, and the
independent checker has read {checked} of them (all cubic and margin-tree ones; the sub-cubic ones of as many models as
`--checked` says, and samples of the others). "As published" repeats the published rules in floating point; those
numbers are estimates, and the rules are not sound. True accuracy is an exact count where the margin tree is small
(Max-of-4 and Max-of-5), else the middle of proved bounds that are at most {GAP} apart, for as many models as
`--two-sided` says, else the share of {plan.samples:,} sampled sequences.
"""


def _claims_table(found: Sequence[Claim]) -> str:
    lines = ["| # | what | paper says | we get |", "| --- | --- | --- | --- |"]
    lines += [f"| {c.number} | {c.what} | {c.paper} | {c.ours} |" for c in found]
    return "\n".join(lines) + "\n"


def ablation_table(result: StudyResult) -> Table:
    """Zero ablations: all subsets for the main model, means over models where all have them."""
    rows = []
    for name, main in sorted(result.main.ablations.items(), key=lambda item: len(item[1].removed)):
        kept = ", ".join(c for c in CIRCUITS if c not in main.removed) or "nothing"
        shares = [m.ablations[name].right / m.ablations[name].total for m in result.models if name in m.ablations]
        over = spread(shares).text() if len(shares) == len(result.models) > 1 else ""
        removed = ", ".join(main.removed) or "nothing"
        rows.append((removed, kept, f"{main.right / main.total:.6f}", "yes" if main.exact else "floats", over))
    columns = ("removed", "kept", f"accuracy, seed {result.main.seed}", "exact", "accuracy, all models")
    caption = f"{result.study.title}: accuracy over all sequences with circuits set to zero."
    return Table("ablations", caption, columns, tuple(rows))


def sampling_table(results: Sequence[StudyResult]) -> Table:
    """True accuracy where it is known, plain Monte Carlo, and the paper's sampler with and without its faults."""
    return Table(
        "sampling",
        "First model of each configuration: proved accuracy, 95 % Clopper-Pearson interval of plain Monte Carlo, and "
        "the paper's importance sampler, which loses EQKP and draws unevenly inside strata (reproduced with fewer "
        "samples).",
        ("model", "estimator", "accuracy", "low", "high"),
        tuple(row for result in results for row in _sampling_rows(result)),
    )


def _sampling_rows(result: StudyResult) -> Iterator[tuple[str, ...]]:
    main, title = result.main, result.study.title
    a, s = main.accuracy, main.sampled
    if a.proved:
        kind = "exact count" if a.exact else "proved bounds and their middle"
        yield (title, kind, f"{a.share:.6f}", f"{a.low:.6f}", f"{a.high:.6f}")
    if s is not None:
        yield (title, f"Monte Carlo, {s.samples:,}", f"{s.share:.6f}", f"{s.low:.6f}", f"{s.high:.6f}")
    for name, estimate in main.importance.items():
        yield (title, f"paper's sampler ({name}), {estimate.sequences:,}", f"{estimate.accuracy:.6f}", "", "")


def refinement_table(results: Sequence[StudyResult]) -> Table:
    """What our refinements add at the same cost, on average over models."""
    rows = []
    for result in results:
        numbers = [row.strategy for row in result.main.edition(TIGHT)]
        for number in numbers:
            pairs = [(m.rows[number, SOUND].share, m.rows[number, TIGHT].share) for m in result.models]
            sound, tight = (spread([pair[i] for pair in pairs]).text() for i in (0, 1))
            gain = spread([b - a for a, b in pairs]).text(100)
            rows.append((result.study.title, number, choice(int(number)).name.replace(",", ", "), sound, tight, gain))
    caption = "The tight edition: the same approximations with every refinement that keeps the cost class."
    columns = ("models", "number", "options", "sound", "tight", "gain, points")
    return Table("refinements", caption, columns, tuple(rows))
