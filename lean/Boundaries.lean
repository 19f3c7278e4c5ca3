import CompactProofs.FloatError
import CompactProofs.LogLoss
import CompactProofs.Masses
import CompactProofs.Minimum
/-!
# What the Lean files do not prove

The theorems say: *if* the hypotheses of a rule hold, *then* its conclusion does, over every ordered field with an exponential
(`Field.lean`). The following stays outside.

1. **The checker is a Python program.** Nobody has proved that `checker/` computes what the rules say: that its integers are those of the
   hypotheses, that a rule it calls `pure_sequences` has verified the hypotheses of `Rule.pure_sequences`. The theorems and
   `docs/FORMAT.md` state the same mathematics in the same order and under the same names, so that a reader can compare them; that
   comparison is not formal. (`Example.lean` closes this gap for one tiny model only.)
2. **The file.** That the certificate which was read is the one that was meant, and that the weights in it are those of the model in
   question, is a matter of digests.
3. **Floating point.** The numbers in the file are dyadic rationals; the theorems are about the exact function of these numbers. For
   programs that compute in floating point `Rule.float_count` carries a count over, given a bound of the error of each logit, and
   `Rule.float_error` proves that bound for every program whose results come from each other by the operations of `Machine.lean`
   (`Program.Runs`), if the numbers that the checker computes satisfy the inequalities of FORMAT.md, section 5.7 (`Numbers.Covers`). It asks
   that the field has no infinitely small numbers, for the factor `D / 2`. `Program.Runs` asks nothing of an operation on a number above `M`;
   that there is none follows. **Not** proved, but assumed there: that a format of floating-point numbers (with a largest number above
   `2 M`) keeps what is asked of an operation on others: a factor `1 + d` with `|d| ≤ u`, or a `Factor` for a result of several roundings, and
   a rest for underflow: `2 M ν` for a term of a sum, `2 ν` for an addition, `2 E ν` for an exponential, `ζ` for others; that `s - s` is 0,
   and no rounded `s - max s` positive.
4. **The real numbers.** That the reals with their exponential satisfy the axioms of `ExpField` is ordinary mathematics (`1 + x ≤ exp x`,
   the functional equation); it is not proved here, as that would need the real numbers in Lean, that is Mathlib. No instance of `ExpField`
   is constructed in these files.
5. **Variants of the task.** The theorems in `Soundness.lean` are for the largest token, with a query that is the last token; those
   named `..._eos` are for an end-of-sequence token, `Minimum.lean` reduces the smallest token to the largest, `Masses.lean` has the
   rules for distributions with weights. That the three are combined correctly is not stated in one theorem;
   nor that the inputs with weights of `Rule.log_loss` are those of a distribution, whose counts its `right` and `wrong` are.
6. **Sequences are functions.** `t : Nat → Nat` stands for `t 0, ..., t n`; later values are ignored. Counting (`count`) runs over the
   fillings of the first places of a fixed function.
7. **Square roots** are not needed: `Model.scale` is any nonnegative number, and `Rule.weights.root` encloses the positive `s` with `d s² = 1`.
8. **The decision procedure of correctness.** `correct` is any truth-valued function that agrees with correctness (`Certifies`, `Refutes`);
   over the reals one exists by classical logic. The proofs themselves use no axiom: not choice, not propositional extensionality, not
   quotients.
9. **Lean itself**: its kernel, and here also that the wheel contains the Lean it says it does.
-/
