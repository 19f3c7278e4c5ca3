"""The parts of an export that are the same for all certificates, cut to the rules that one uses."""

from __future__ import annotations

from pathlib import Path

TEXT = Path(__file__).with_name("text")
LEAN = Path(__file__).resolve().parents[2] / "lean"
NOT_NEEDED = ("Foundation", "Kernel")  # the first stands in for Lean's own library, the second checks small models

NEEDS = {
    "margins": ("common", "circuit", "margins"),
    "enumerate": ("common", "circuit", "margins", "enumerate"),
    "margin_tree": ("common", "circuit", "margins", "sums_count", "margin_tree"),
    "margin_convolution": ("common", "circuit", "margins", "sums_count", "margin_convolution"),
    "pure_sequences": ("common", "circuit", "classes", "pure_sequences"),
    "gap_classes": ("common", "circuit", "classes", "gap_classes"),
    "float_error": ("float_error", "float_count"),
}


def network() -> str:
    """Network.lean."""
    return (TEXT / "Network.lean").read_text(encoding="utf-8")


def bridge() -> str:
    """Bridge.lean."""
    return (TEXT / "Bridge.lean").read_text(encoding="utf-8")


def rules(used: frozenset[str], eos: bool) -> str:
    """Rules.lean with the lemmas of the rules used, in the order of the template."""
    wanted = {part for rule in used for part in NEEDS.get(rule, (rule,))} | {"conclude"}
    if eos and "classes" in wanted:
        wanted = wanted - {"classes"} | {"classes_eos"}
    head, *parts = (TEXT / "Rules.lean").read_text(encoding="utf-8").split("-- part ")
    *parts, last = parts
    last, end = last.split("end\nend CompactProofs.Export\n")
    named = [part.split("\n", 1) for part in [*parts, last]]
    kept = [text.rstrip("\n") + "\n" for name, text in named if name in wanted]
    assert wanted <= {name for name, _ in named} and end == ""
    length = "S.length = S.last" if eos else "S.length = Nat.succ S.last"
    return (head + "\n".join(kept) + "end\nend CompactProofs.Export\n").replace("LENGTH", length)


def library() -> dict[str, str]:
    """The theorems, as in the folder lean/ of this project."""
    paths = sorted((LEAN / "CompactProofs").glob("*.lean"))
    return {
        f"CompactProofs/{path.name}": path.read_text(encoding="utf-8") for path in paths if path.stem not in NOT_NEEDED
    }


def toolchain() -> str:
    """The version of Lean."""
    return (LEAN / "lean-toolchain").read_text(encoding="utf-8")


def lakefile() -> str:
    """For `lake`: Mathlib of the version of Lean, the theorems, the export."""
    version = toolchain().strip().partition(":")[2]
    return f"""\
# lake update && lake exe cache get && lake build
name = "certificate"
defaultTargets = ["Export"]

[[require]]
name = "mathlib"
scope = "leanprover-community"
rev = "{version}"

[[lean_lib]]
name = "CompactProofs"
roots = ["CompactProofs.Masses", "CompactProofs.Floating", "CompactProofs.Minimum"]

[[lean_lib]]
name = "Export"
roots = ["Export.Claim"]
"""
