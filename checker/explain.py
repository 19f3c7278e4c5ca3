"""What the checker understood, in words and decimals. Nothing here takes part in a verdict."""

from .claim import words
from .facts import Count, Fact, Factored, Margins, Weights
from .kernel import Document
from .numbers import Matrix


def decimal(n: int, exponent: int, up: bool = False) -> str:
    """n * 2**exponent with six decimals, rounded down, or up."""
    scaled = n * 10**6
    value = scaled << exponent if exponent >= 0 else scaled >> -exponent if not up else -(-scaled >> -exponent)
    whole, part = divmod(abs(value), 10**6)
    return f"{'-' if value < 0 else ''}{whole}.{part:06}"


def matrix(value: Matrix) -> str:
    """Shape, range and first entry of a matrix."""
    flat = [n for row in value.rows for n in row]
    low, high = decimal(min(flat), value.exponent), decimal(max(flat), value.exponent, up=True)
    return (
        f"{value.shape[0]}x{value.shape[1]}, entries in [{low}, {high}], "
        f"first entry exactly {flat[0]} * 2^{value.exponent}"
    )


def describe(fact: Fact) -> list[str]:
    """A fact in a few lines; decimals are rounded so that the statement stays true."""
    if isinstance(fact, Factored):
        lines = [f"{fact.circuit} = {'0' if fact.approx is None else 'approximation'} + product of:"]
        return lines + [f"  {matrix(factor)}" for factor in fact.factors]
    if isinstance(fact, Weights):
        low, high = fact.token_low[0][0], fact.token_high[0][0]
        return [
            f"attention weights of {len(fact.token_low)} queries, {fact.bits} fractional bits",
            f"  query 0, token 0: between {low} and {high} times 2^-{fact.bits}",
            f"  in decimals [{decimal(low, -fact.bits)}, {decimal(high, -fact.bits, up=True)}]",
        ]
    if isinstance(fact, Margins):
        return [
            f"margins above {fact.threshold[0]} * 2^{fact.threshold[1]} as sums of terms",
            f"  {len(fact.direct)} queries, {len(fact.values)} token rows, {len(fact.positions)} positions",
            f"  {len(fact.values[0])} outputs, logits exact over 2^{-fact.exponent}",
        ]
    if isinstance(fact, Count):
        classes = sum(high - low for _, low, high in fact.region)
        return [f"{classes} classes: at least {fact.right} sequences right, at least {fact.wrong} wrong"]
    return [f"between {fact.lower} and {fact.upper} sequences of the task are right"]


def argument(value: object) -> str:
    """One argument of a step, cut to a line."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:56]}... ({len(text)} characters)"


def show(document: Document) -> list[str]:
    """The claim and the steps as read; the claim is not yet verified."""
    task = document.claim.task
    lines = [f"claimed, not checked: {words(document.claim)}"]
    lines.append(f"model: {', '.join(f'{key} {size}' for key, size in document.model.sizes.items() if key != '1')}")
    lines += [f"  {t.name} {t.dtype} {'x'.join(map(str, t.shape))}" for t in document.model.tensors]
    lines.append(f"task: {task.kind} of {task.length}, tokens 0..{task.tokens - 1}, end token {task.eos}")
    for number, fields in enumerate(document.proof):
        given = ", ".join(f"{key} {argument(value)}" for key, value in fields.value.items() if key != "rule")
        lines.append(f"step {number}: {argument(fields.value.get('rule'))} {given}")
    return lines


def explain(document: Document, facts: list[Fact], number: int) -> list[str]:
    """One step with its premises, its rule's text and the fact derived."""
    from .rules import RULES  # the table imports the rules; their texts are all that is wanted here

    fields = document.proof[number]
    name = str(fields.value["rule"])
    lines = [f"step {number}: {name}"]
    lines += [f"  {line.strip()}" for line in (RULES[name].__doc__ or "").strip().splitlines()]
    for key, value in fields.value.items():
        if key == "rule":
            continue
        lines.append(f"argument {key}: {argument(value)}")
        premises = value if key == "of" and isinstance(value, list) else [value]
        if key in ("of", "scores", "positions", "direct", "values", "weights", "margins"):
            lines += [f"    step {p}: {line}" for p in premises for line in describe(facts[int(str(p))])]
    return [*lines, "derived:", *(f"    {line}" for line in describe(facts[number]))]
