import CompactProofs.Circuits
/-!
# The margin is a sum of independent terms: rule `margins`
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- The term of position `i` holding token `x`, for the query token `q` and the outputs `o` (wrong) and `m` (right): the direct path, the token and the position. -/
def Circuits.term (C : Circuits F) (q i x o m : Nat) : F :=
  (C.EU q o - C.EU q m) + ((C.EVOU x o - C.EVOU x m) + (C.PVOU i o - C.PVOU i m))

/-- The model is right on the sequence `t 0, ..., t n` when the logit of the right token `m` is *strictly* larger than that of every other output. -/
def Circuits.Correct (C : Circuits F) (v n : Nat) (t : Nat → Nat) (m : Nat) : Prop :=
  ∀ o, o < v → o ≠ m → C.logit n t o < C.logit n t m

/-- Because the attentions sum to one, the direct path may be moved inside the average. -/
theorem Circuits.margin_eq (C : Circuits F) (n : Nat) (t : Nat → Nat) (o m : Nat) :
    C.logit n t o - C.logit n t m = sum (Nat.succ n) (fun i => C.attention n t i * C.term (t n) i (t i) o m) :=
  let a := C.attention n t
  let value := fun o i => C.EVOU (t i) o + C.PVOU i o
  have total : sum (Nat.succ n) a = 1 := softmax_total (fun i _ => C.weight_pos (t n) i (t i))
  have direct : sum (Nat.succ n) (fun i => a i * (C.EU (t n) o - C.EU (t n) m)) = C.EU (t n) o - C.EU (t n) m :=
    (sum_mul_right (Nat.succ n) _ a).trans ((mul_congr total rfl).trans (one_mul _))
  have rest : sum (Nat.succ n) (fun i => a i * ((C.EVOU (t i) o - C.EVOU (t i) m) + (C.PVOU i o - C.PVOU i m)))
      = sum (Nat.succ n) (fun i => a i * value o i) - sum (Nat.succ n) (fun i => a i * value m i) :=
    (sum_congr (fun i _ => (ring (a i :: C.EVOU (t i) o :: C.EVOU (t i) m :: C.PVOU i o :: C.PVOU i m :: []) :
      a i * ((C.EVOU (t i) o - C.EVOU (t i) m) + (C.PVOU i o - C.PVOU i m))
        = a i * (C.EVOU (t i) o + C.PVOU i o) - a i * (C.EVOU (t i) m + C.PVOU i m)))).trans (sum_sub _ _ _)
  let So := sum (Nat.succ n) (fun i => a i * value o i)
  let Sm := sum (Nat.succ n) (fun i => a i * value m i)
  calc C.logit n t o - C.logit n t m = (C.EU (t n) o + So) - (C.EU (t n) m + Sm) := rfl
    _ = (C.EU (t n) o - C.EU (t n) m) + (So - Sm) := ring (C.EU (t n) o :: C.EU (t n) m :: So :: Sm :: [])
    _ = sum (Nat.succ n) (fun i => a i * (C.EU (t n) o - C.EU (t n) m))
          + sum (Nat.succ n) (fun i => a i * ((C.EVOU (t i) o - C.EVOU (t i) m) + (C.PVOU i o - C.PVOU i m))) :=
        add_congr direct.symm rest.symm
    _ = sum (Nat.succ n) (fun i => a i * (C.EU (t n) o - C.EU (t n) m)
          + a i * ((C.EVOU (t i) o - C.EVOU (t i) m) + (C.PVOU i o - C.PVOU i m))) := (sum_add _ _ _).symm
    _ = sum (Nat.succ n) (fun i => a i * C.term (t n) i (t i) o m) := sum_congr (fun i _ => (mul_add _ _ _).symm)

/-- The common step: with weights `w i` known up to a common positive factor `g`, the margin minus `r` times the (positive) total weight is a sum of one term per position. -/
theorem Circuits.margin_sum (C : Circuits F) (n : Nat) (t : Nat → Nat) (o m : Nat) (r g : F) (w : Nat → F) (hg : 0 < g)
    (hw : ∀ i, i < Nat.succ n → C.weight (t n) i (t i) = g * w i) :
    0 < sum (Nat.succ n) w ∧
    sum (Nat.succ n) w * ((C.logit n t o - C.logit n t m) - r) = sum (Nat.succ n) (fun i => w i * (C.term (t n) i (t i) o m - r)) :=
  have wpos : ∀ i, i < Nat.succ n → 0 < w i := fun i hi =>
    pos_of_mul (le_of_lt hg) (pos_of (C.weight_pos (t n) i (t i)) (hw i hi).symm)
  let Z := sum (Nat.succ n) w
  have hZ : 0 < Z := sum_pos wpos
  let c := fun i => C.term (t n) i (t i) o m
  have att : ∀ i, i < Nat.succ n → Z * (C.attention n t i * c i) = w i * c i := fun i hi =>
    have e : C.attention n t i = w i / Z := softmax_scale hg wpos hw i hi
    calc Z * (C.attention n t i * c i) = Z * ((w i / Z) * c i) := mul_congr rfl (mul_congr e rfl)
      _ = (Z * (w i / Z)) * c i := (mul_assoc _ _ _).symm
      _ = w i * c i := mul_congr (div_mul hZ) rfl
  have main : Z * (C.logit n t o - C.logit n t m) = sum (Nat.succ n) (fun i => w i * c i) :=
    (mul_congr rfl (C.margin_eq n t o m)).trans ((sum_mul_left (Nat.succ n) Z _).symm.trans (sum_congr att))
  ⟨hZ,
   calc Z * ((C.logit n t o - C.logit n t m) - r)
      = Z * (C.logit n t o - C.logit n t m) - Z * r := ring (Z :: C.logit n t o :: C.logit n t m :: r :: [])
    _ = sum (Nat.succ n) (fun i => w i * c i) - sum (Nat.succ n) (fun i => w i * r) :=
        sub_congr main (sum_mul_right (Nat.succ n) r w).symm
    _ = sum (Nat.succ n) (fun i => w i * c i - w i * r) := (sum_sub _ _ _).symm
    _ = sum (Nat.succ n) (fun i => w i * (c i - r)) := sum_congr (fun i _ => ring (w i :: c i :: r :: []))⟩

/-- **Rule `margins`.** `y_o - y_m < r` iff `Σ_i w_i (c_i - r) < 0`, and `y_o - y_m ≥ r` iff `Σ_i w_i (c_i - r) ≥ 0`, where `c_i` is the term of position `i` and the `w_i` are the
attention weights up to any common positive factor `g` (which may depend on the query and on the outputs). No softmax division is left. -/
theorem Rule.margins (C : Circuits F) (n : Nat) (t : Nat → Nat) (o m : Nat) (r g : F) (w : Nat → F) (hg : 0 < g)
    (hw : ∀ i, i < Nat.succ n → C.weight (t n) i (t i) = g * w i) :
    (C.logit n t o - C.logit n t m < r ↔ sum (Nat.succ n) (fun i => w i * (C.term (t n) i (t i) o m - r)) < 0) ∧
    (r ≤ C.logit n t o - C.logit n t m ↔ 0 ≤ sum (Nat.succ n) (fun i => w i * (C.term (t n) i (t i) o m - r))) :=
  have h := C.margin_sum n t o m r g w hg hw
  let D := C.logit n t o - C.logit n t m
  have up := neg_iff h.left h.right
  have dn := nonneg_iff h.left h.right
  ⟨⟨fun k => up.mp (lt_of (sub_pos k) (ring (D :: r :: []))), fun k => lt_of (sub_pos (up.mpr k)) (ring (D :: r :: []))⟩,
   ⟨fun k => dn.mp (sub_nonneg k), fun k => le_of_sub (dn.mpr k)⟩⟩

/-- **Rule `margins`, radius of a sum.** If the terms are known up to `e i` and `Σ e i ≤ R`, then an approximate sum below `-R` proves the sum negative, and one of at least `R` proves it nonnegative. -/
theorem Rule.margins.radius (n : Nat) (g a e : Nat → F) (R : F) (h : ∀ i, i < n → g i - a i ≤ e i ∧ a i - g i ≤ e i) (hR : sum n e ≤ R) :
    (sum n a < -R → sum n g < 0) ∧ (R ≤ sum n a → 0 ≤ sum n g) :=
  have up : sum n g - sum n a ≤ sum n e := le_trans (le_of_eq (sum_sub n g a).symm) (sum_le (fun i hi => (h i hi).left))
  have dn : sum n a - sum n g ≤ sum n e := le_trans (le_of_eq (sum_sub n a g).symm) (sum_le (fun i hi => (h i hi).right))
  ⟨fun k => lt_of (add_pos (sub_pos k) (add_nonneg (sub_nonneg up) (sub_nonneg hR))) (ring (sum n g :: sum n a :: sum n e :: R :: [])),
   fun k => le_of (add_nonneg (sub_nonneg k) (add_nonneg (sub_nonneg dn) (sub_nonneg hR))) (ring (sum n g :: sum n a :: sum n e :: R :: []))⟩

/-- **Rule `margins`, radius of one term.** If `|w - w'| ≤ δ`, `|c - c'| ≤ ε`, `0 ≤ w ≤ ω` and `|c'| ≤ β`, then `|w c - w' c'| ≤ ω ε + δ β`. -/
theorem Rule.margins.term_radius (w w' c c' δ ε ω β : F) (h0 : 0 ≤ w) (hω : w ≤ ω) (hw : w - w' ≤ δ ∧ w' - w ≤ δ) (hc : c - c' ≤ ε ∧ c' - c ≤ ε)
    (hβ : c' ≤ β ∧ -c' ≤ β) : w * c - w' * c' ≤ ω * ε + δ * β ∧ w' * c' - w * c ≤ ω * ε + δ * β :=
  have abs_nonneg : ∀ {x b : F}, x ≤ b → -x ≤ b → 0 ≤ b := fun {x b} h k =>
    (ExpField.le_total 0 x).elim (fun p => le_trans p h) (fun p => le_trans (neg_nonneg p) k)
  have hε : 0 ≤ ε := abs_nonneg hc.left (le_trans (le_of_eq (ring (c :: c' :: []))) hc.right)
  have hδ : 0 ≤ δ := abs_nonneg hw.left (le_trans (le_of_eq (ring (w :: w' :: []))) hw.right)
  have hβ0 : 0 ≤ β := abs_nonneg hβ.left hβ.right
  have one : ∀ d, d ≤ ε → w * d ≤ ω * ε := fun d hd => le_trans (mul_le_mul_left hd h0) (mul_le_mul_right hω hε)
  have two : ∀ x, x ≤ δ → -x ≤ δ → x * c' ≤ δ * β := fun x h1 h2 =>
    (ExpField.le_total 0 x).elim (fun p => le_trans (mul_le_mul_left hβ.left p) (mul_le_mul_right h1 hβ0))
      (fun p => calc x * c' = -x * -c' := ring (x :: c' :: [])
        _ ≤ -x * β := mul_le_mul_left hβ.right (neg_nonneg p)
        _ ≤ δ * β := mul_le_mul_right h2 hβ0)
  ⟨calc w * c - w' * c' = w * (c - c') + (w - w') * c' := ring (w :: w' :: c :: c' :: [])
     _ ≤ ω * ε + δ * β := add_le_add (one _ hc.left) (two _ hw.left (le_trans (le_of_eq (ring (w :: w' :: []))) hw.right)),
   calc w' * c' - w * c = w * (c' - c) + (w' - w) * c' := ring (w :: w' :: c :: c' :: [])
     _ ≤ ω * ε + δ * β := add_le_add (one _ hc.right) (two _ hw.right (le_trans (le_of_eq (ring (w :: w' :: []))) hw.left))⟩

/-- What the rules below use: the model is right iff, for every other output, the sum of the terms is negative. -/
theorem Circuits.correct_iff (C : Circuits F) (v n : Nat) (t : Nat → Nat) (m : Nat) (g : Nat → F) (w : Nat → Nat → F) (hg : ∀ o, 0 < g o)
    (hw : ∀ o i, i < Nat.succ n → C.weight (t n) i (t i) = g o * w o i) :
    C.Correct v n t m ↔ ∀ o, o < v → o ≠ m → sum (Nat.succ n) (fun i => w o i * C.term (t n) i (t i) o m) < 0 :=
  have key : ∀ o, C.logit n t o < C.logit n t m ↔ sum (Nat.succ n) (fun i => w o i * C.term (t n) i (t i) o m) < 0 := fun o =>
    have e : sum (Nat.succ n) (fun i => w o i * (C.term (t n) i (t i) o m - 0)) = sum (Nat.succ n) (fun i => w o i * C.term (t n) i (t i) o m) :=
      sum_congr (fun i _ => ring (w o i :: C.term (t n) i (t i) o m :: []))
    have h := (Rule.margins C n t o m 0 (g o) (w o) (hg o) (hw o)).left
    ⟨fun k => e.rec (motive := fun x _ => x < 0) (h.mp (lt_of (sub_pos k) (ring (C.logit n t o :: C.logit n t m :: [])))),
     fun k => lt_of (sub_pos (h.mpr (e.symm.rec (motive := fun x _ => x < 0) k))) (ring (C.logit n t o :: C.logit n t m :: []))⟩
  ⟨fun k o ho hne => (key o).mp (k o ho hne), fun k o ho hne => (key o).mpr (k o ho hne)⟩
end
end CompactProofs
