"""One certificate as Lean files for users of Mathlib: the claim, and its proof down to the arithmetic (docs/howto-lean.md)."""
