import Export.Rules
import Export.Weights
/-!
# The claim of a certificate, and its proof down to the arithmetic

The checker's words, after it had verified the file:

> the checker's words

* certificate: sha256 754cf697c91137a08ec19ab3b23c0fe7ffe25deb9e8efe968a133da4a3c2bfd4
* weights: sha256 b4354fd9d849e263b7dc5905c46c76bcec2577df8533ccc461d218c37214947f

`claim`, at the end, is the theorem. Everything in its proof is proved but the stubs, the only places with a `sorry`.
A stub states what steps of the certificate find by arithmetic with the numbers in `Weights.lean`; the checker has done
that arithmetic, Lean has not:

* `step_20_arithmetic`

Of the rules of the certificate, `circuit`, `conclude`, `enumerate`, `margins` are applied below as lemmas; `product`, `weights` serve inside the stubs and are stated in `Rules.lean`.

A stock Lean and Mathlib have **not** been run on these files: neither was at hand. The tests of the tool that wrote
them have Lean 4.35.0 elaborate files of every kind, against a stand-in for the few declarations of Mathlib in use.
-/
namespace CompactProofs.Export
noncomputable section

def length : ℕ := 2
def tokens : ℕ := 3
def last : ℕ := 1
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
def lower : ℕ := 6
def upper : ℕ := 6
def total : ℕ := 9

def setting : Setting := network.setting task weight

def circuits : Circuits R := setting.model.circuits setting.last
theorem circuits_right : setting.Circuits circuits := fun t o => Rule.circuit setting.model setting.last t o

def step_20_threshold : ℝ := (Int.cast (0) : ℝ) / (2 : ℝ) ^ (0 : ℕ)
def step_20_region : List Span := [⟨0, 0, 1⟩, ⟨1, 0, 2⟩, ⟨2, 0, 3⟩]
def step_20_right : ℕ := 6
def step_20_wrong : ℕ := 3

/-- **Stub.** Step 20, `enumerate`, with the arithmetic of the steps 0 to 19 that lead to it. -/
theorem step_20_arithmetic : Enumerated setting circuits step_20_threshold step_20_region step_20_right step_20_wrong := sorry

theorem step_20 : setting.Count setting.logits step_20_threshold step_20_region step_20_right step_20_wrong :=
  Rule.enumerate setting circuits circuits_right step_20_threshold step_20_region step_20_right step_20_wrong step_20_arithmetic

theorem total_mass : totalMass setting.weight setting.tokens setting.length = total := (total_uniform tokens length).trans rfl

theorem step_21 : lower ≤ setting.mass (fun t => holds (setting.Above threshold setting.logits t)) ∧ setting.mass (fun t => holds (setting.Above threshold setting.logits t)) ≤ upper :=
  Rule.conclude.bounds setting setting.logits threshold step_20_region step_20_right step_20_wrong total lower upper step_20 total_mass rfl rfl

/-- **The claim**: the network has a margin above `threshold` on at least `lower` and at most `upper`
of the `total` inputs (by mass). -/
theorem claim : lower ≤ task.mass weight (task.Above threshold (network.logit task.last)) ∧ task.mass weight (task.Above threshold (network.logit task.last)) ≤ upper :=
  replace (network_max network task weight rfl 1 rfl threshold)
    (fun x => lower ≤ x ∧ x ≤ upper) step_21
end
end CompactProofs.Export
