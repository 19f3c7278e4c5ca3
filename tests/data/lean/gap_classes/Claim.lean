import Export.Rules
import Export.Weights
/-!
# The claim of a certificate, and its proof down to the arithmetic

The checker's words, after it had verified the file:

> the checker's words

* certificate: sha256 9fe9225572d38dbe97b760e4a887e7ec9570599297f5c13063e318b664647e92
* weights: sha256 b3fc77a353316f495717f4ddc354625a7158c55069f716b37a6307dcb7b189ce

`claim`, at the end, is the theorem. Everything in its proof is proved but the stubs, the only places with a `sorry`.
A stub states what steps of the certificate find by arithmetic with the numbers in `Weights.lean`; the checker has done
that arithmetic, Lean has not:

* `step_33_arithmetic`

Of the rules of the certificate, `circuit`, `conclude`, `gap_classes` are applied below as lemmas; `peel`, `product`, `row_bound_min`, `row_range_chain` serve inside the stubs and are stated in `Rules.lean`.

A stock Lean and Mathlib have **not** been run on these files: neither was at hand. The tests of the tool that wrote
them have Lean 4.35.0 elaborate files of every kind, against a stand-in for the few declarations of Mathlib in use.
-/
namespace CompactProofs.Export
noncomputable section

def length : ℕ := 3
def tokens : ℕ := 3
def last : ℕ := 2
def outputs : ℕ := 3
/-- what stands after the input: nothing that matters -/
def after : ℕ := 3
def task : Task where
  smallest := false
  length := length
  tokens := tokens
  last := last
  start := fun _ => after
  outputs := outputs

/-- Every input counts once. -/
def weight : ℕ → ℕ → ℕ := fun _ _ => 1

def threshold : ℝ := (Int.cast (0) : ℝ) / (2 : ℝ) ^ (0 : ℕ)
def lower : ℕ := 16
def upper : ℕ := 27
def total : ℕ := 27

def setting : Setting := network.setting task weight

def step_0_centre : Tensor where
  denominator := 24
  rows := [
    [0, 699051]]

def circuits_0_none : Circuits R := setting.model.centred setting.last (fun l => step_0_centre.at 0 l) (fun _ => 0)
theorem circuits_0_none_right : setting.Circuits circuits_0_none := fun t o => Rule.circuit.centred setting.model setting.last (fun l => step_0_centre.at 0 l) (fun _ => 0) t o

def step_33_threshold : ℝ := (Int.cast (0) : ℝ) / (2 : ℝ) ^ (0 : ℕ)
def step_33_region : List Span := [⟨0, 0, 1⟩, ⟨1, 0, 2⟩, ⟨2, 0, 3⟩]
def step_33_right : ℕ := 16
def step_33_wrong : ℕ := 0

/-- **Stub.** Step 33, `gap_classes`, with the arithmetic of the steps 0 to 32 that lead to it. -/
theorem step_33_arithmetic : Classes setting (fun k => GapFact circuits_0_none setting.outputs setting.last step_33_threshold k ∨ ConstantFact circuits_0_none setting.outputs setting.last step_33_threshold k) step_33_region step_33_right := sorry

theorem step_33 : setting.Count setting.logits step_33_threshold step_33_region step_33_right step_33_wrong :=
  Rule.gap_classes setting circuits_0_none circuits_0_none_right network.scale_nonneg rfl rfl step_33_threshold step_33_region step_33_right step_33_arithmetic

theorem total_mass : totalMass setting.weight setting.tokens setting.length = total := (total_uniform tokens length).trans rfl

theorem step_34 : lower ≤ setting.mass (fun t => holds (setting.Above threshold setting.logits t)) ∧ setting.mass (fun t => holds (setting.Above threshold setting.logits t)) ≤ upper :=
  Rule.conclude.bounds setting setting.logits threshold step_33_region step_33_right step_33_wrong total lower upper step_33 total_mass rfl rfl

/-- **The claim**: the network has a margin above `threshold` on at least `lower` and at most `upper`
of the `total` inputs (by mass). -/
theorem claim : lower ≤ task.mass weight (task.Above threshold (network.logit task.last)) ∧ task.mass weight (task.Above threshold (network.logit task.last)) ≤ upper :=
  replace (network_max network task weight rfl 2 rfl threshold)
    (fun x => lower ≤ x ∧ x ≤ upper) step_34
end
end CompactProofs.Export
