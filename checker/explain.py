"""What the checker understood, in words and decimals rounded the safe way. Nothing here takes part in a verdict."""

from .facts import Admissible, Conclusion, Count, Fact, Factored, FloatError, Margins, Mixed, Weights
from .kernel import Document
from .numbers import Matrix
from .rules import RULES
from .words import nats, words


def decimal(n: int, exponent: int, up: bool = False) -> str:
    """n * 2**exponent with six decimals, rounded down, or up."""
    scaled = n * 10**6
    value = scaled << exponent if exponent >= 0 else -(-scaled >> -exponent) if up else scaled >> -exponent
    whole, part = divmod(abs(value), 10**6)
    return f"{'-' if value < 0 else ''}{whole}.{part:06}"


def matrix(value: Matrix) -> str:
    """Shape, range and first entry of a matrix."""
    flat = [n for row in value.rows for n in row]
    ends = f"[{decimal(min(flat), value.exponent)}, {decimal(max(flat), value.exponent, up=True)}]"
    return f"{value.shape[0]}x{value.shape[1]}, entries in {ends}, first exactly {flat[0]} * 2^{value.exponent}"


def describe(fact: Fact) -> list[str]:
    """A fact in a few lines that are true of it."""
    if isinstance(fact, Factored):
        start = f"{fact.circuit} = " + ("" if fact.approx is None else f"({matrix(fact.approx)}) + ")
        return [start + "product of:", *(f"  {matrix(factor)}" for factor in fact.factors)]
    if isinstance(fact, Admissible):
        largest = max(row[0] for row in fact.bound.rows)
        return [
            f"{fact.circuit} = {'0' if fact.approx is None else 'approximation'} + rest, whose rows range by at most",
            f"  {matrix(fact.bound)}; largest {decimal(largest, fact.bound.exponent, up=True)}",
        ]
    if isinstance(fact, Weights):
        low, high = fact.token_low[0][0], fact.token_high[0][0]
        ends = f"[{decimal(low, -fact.bits)}, {decimal(high, -fact.bits, up=True)}]"
        return [
            f"attention weights of {len(fact.token_low)} queries, {fact.bits} fractional bits",
            f"  query 0, token 0: in {ends}, exactly {low}..{high} * 2^-{fact.bits}",
        ]
    if isinstance(fact, Margins):
        sizes = f"{len(fact.direct)} queries, {len(fact.values)} token rows, {len(fact.positions)} positions"
        above = f"{fact.threshold[0]} * 2^{fact.threshold[1]}"
        return [f"margins above {above} as sums: {sizes}, {len(fact.values[0])} outputs, over 2^{-fact.exponent}"]
    if isinstance(fact, FloatError):
        score, *parts = [decimal(n, fact.exponent, up=True) for n in fact.parts]
        lines = [f"{fact.semantics.text}: logits off by at most {decimal(max(fact.bound), fact.exponent, up=True)}"]
        return [*lines, f"  scores {score}; in a logit: softmax {parts[0]}, values {parts[1]}, unembedding {parts[2]}"]
    if isinstance(fact, Count):
        classes = sum(high - low for _, low, high in fact.region)
        lines = [f"{classes} classes: mass at least {fact.right} {_what(fact)}, at least {fact.wrong} not"]
        return [*lines, f"  of part {fact.part} of the distribution"] if fact.part else lines
    if isinstance(fact, Mixed):
        return [f"all parts: mass at least {fact.right} {_what(fact)}, at least {fact.wrong} not"]
    if fact.threshold is None:
        return [f"mean log-loss between {nats(fact.lower)} and {nats(fact.upper, up=True)} nats"]
    return [f"mass between {fact.lower} and {fact.upper} {_what(fact)}"]


def _what(fact: Count | Mixed | Conclusion) -> str:
    """What the counted inputs have in common."""
    if fact.threshold is None:
        return ""
    where = "over the real numbers" if fact.semantics is None else fact.semantics.text
    return f"of inputs with a margin above {fact.threshold[0]} * 2^{fact.threshold[1]} {where}"


def argument(value: object) -> str:
    """One argument of a step, cut to a line."""
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:56]}... ({len(text)} characters)"


def show(document: Document) -> list[str]:
    """The claim and the steps as read; the claim is not yet verified."""
    (_, task), sizes = document.claim.parts[0], document.model.sizes
    lines = [f"claimed, not checked: {words(document.claim)}"]
    lines.append(f"model: {', '.join(f'{key} {size}' for key, size in sizes.items() if key != '1')}")
    lines += [f"  {t.name} {t.dtype} {'x'.join(map(str, t.shape))}" for t in document.model.tensors]
    end = "no end token" if task.eos is None else f"end token {task.eos}"
    lines.append(f"task: {task.kind} of {task.length}, tokens 0..{task.tokens - 1}, {end}")
    for number, (share, part) in enumerate(document.claim.parts):
        if len(document.claim.parts) > 1:
            lines.append(f"part {number} of the distribution: share {share} of mass {part.total}")
        if part.maxima is not None:
            answers = part.maxima if task.kind == "max" else [task.tokens - 1 - m for m in reversed(part.maxima)]
            lines.append(f"inputs whose right answer is one of {' '.join(map(str, answers))}")
        for position, row in enumerate(part.masses or ()):
            row = row if task.kind == "max" else row[::-1]
            lines.append(f"position {position}, weight of each token: {' '.join(map(str, row))}")
    for number, fields in enumerate(document.proof):
        given = ", ".join(f"{key} {argument(value)}" for key, value in sorted(fields.value.items()) if key != "rule")
        lines.append(f"step {number}: {argument(fields.value.get('rule'))} {given}")
    return lines


def explain(document: Document, facts: list[Fact], number: int) -> list[str]:
    """One step: its rule's text, its arguments and premises, and the fact derived."""
    fields = document.proof[number]
    name = str(fields.value["rule"])
    lines = [f"step {number}: {name}", *(f"  {line.strip()}" for line in (RULES[name].__doc__ or "").splitlines())]
    lines += [f"argument {key}: {argument(value)}" for key, value in sorted(fields.value.items()) if key != "rule"]
    for premise in fields.premises:
        lines += [f"premise {premise}: {line}" for line in describe(facts[premise])]
    return [*lines, *(f"derived: {line}" for line in describe(facts[number]))]
