"""A certificate as Lean files for users of Mathlib: a claim, and its proof but for arithmetic (docs/howto-lean.md)."""
