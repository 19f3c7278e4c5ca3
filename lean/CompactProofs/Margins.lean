import CompactProofs.Circuits
/-!
# The margin is a sum of independent terms: rule `margins`
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- What position `i` holding token `x` contributes to the difference of the outputs `o` (wrong) and `m` (right), for the query token `q`:
the direct path, the token and the position. -/
def Circuits.diff (C : Circuits F) (q i x o m : Nat) : F :=
  (C.EU q o - C.EU q m) + ((C.EVOU x o - C.EVOU x m) + (C.PVOU i o - C.PVOU i m))

/-- The same with the threshold `r` of the margin: `c_i` of `docs/FORMAT.md`. -/
def Circuits.term (C : Circuits F) (r : F) (q i x o m : Nat) : F := C.diff q i x o m + r

/-- The margin of the model on the sequence `t 0, ..., t n` is above `r`: the logit of the right output `m` exceeds that of each of the
other `O - 1` outputs by more than `r`.
With `r = 0` this says that the model is right, a tie being wrong. -/
def Circuits.Correct (C : Circuits F) (O n : Nat) (r : F) (t : Nat → Nat) (m : Nat) : Prop :=
  ∀ o, o < O → o ≠ m → (C.logit n t o - C.logit n t m) + r < 0
theorem Circuits.correct_zero (C : Circuits F) (O n : Nat) (t : Nat → Nat) (m : Nat) :
    C.Correct O n 0 t m ↔ ∀ o, o < O → o ≠ m → C.logit n t o < C.logit n t m :=
  ⟨fun h o ho hne => lt_of (sub_pos (h o ho hne)) (ring (C.logit n t o :: C.logit n t m :: [])),
   fun h o ho hne => lt_of (sub_pos (h o ho hne)) (ring (C.logit n t o :: C.logit n t m :: []))⟩

/-- Because the attentions sum to one, the direct path may be moved inside the average. -/
theorem Circuits.margin_eq (C : Circuits F) (n : Nat) (t : Nat → Nat) (o m : Nat) :
    C.logit n t o - C.logit n t m = sum (Nat.succ n) (fun i => C.attention n t i * C.diff (t n) i (t i) o m) :=
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
    _ = sum (Nat.succ n) (fun i => a i * C.diff (t n) i (t i) o m) := sum_congr (fun i _ => (mul_add _ _ _).symm)

/-- **Rule `margins`.** Let the `w_i` be the attention weights up to any common positive factor `g` (which may depend on the query and on
the outputs). Then `y_o - y_m + r` has the sign of `Σ_i w_i c_i`, where `c_i` is the term of
position `i`: it is negative iff the sum is, and nonnegative iff the sum is. No softmax division is left, and each summand depends on one
position and the token there. -/
theorem Rule.margins (C : Circuits F) (n : Nat) (t : Nat → Nat) (o m : Nat) (r g : F) (w : Nat → F) (hg : 0 < g)
    (hw : ∀ i, i < Nat.succ n → C.weight (t n) i (t i) = g * w i) :
    ((C.logit n t o - C.logit n t m) + r < 0 ↔ sum (Nat.succ n) (fun i => w i * C.term r (t n) i (t i) o m) < 0) ∧
    (0 ≤ (C.logit n t o - C.logit n t m) + r ↔ 0 ≤ sum (Nat.succ n) (fun i => w i * C.term r (t n) i (t i) o m)) :=
  have wpos : ∀ i, i < Nat.succ n → 0 < w i := fun i hi =>
    pos_of_mul (le_of_lt hg) (pos_of (C.weight_pos (t n) i (t i)) (hw i hi).symm)
  let Z := sum (Nat.succ n) w
  have hZ : 0 < Z := sum_pos wpos
  let c := fun i => C.diff (t n) i (t i) o m
  have att : ∀ i, i < Nat.succ n → Z * (C.attention n t i * c i) = w i * c i := fun i hi =>
    have e : C.attention n t i = w i / Z := softmax_scale hg wpos hw i hi
    calc Z * (C.attention n t i * c i) = Z * ((w i / Z) * c i) := mul_congr rfl (mul_congr e rfl)
      _ = (Z * (w i / Z)) * c i := (mul_assoc _ _ _).symm
      _ = w i * c i := mul_congr (div_mul hZ) rfl
  have main : Z * (C.logit n t o - C.logit n t m) = sum (Nat.succ n) (fun i => w i * c i) :=
    (mul_congr rfl (C.margin_eq n t o m)).trans ((sum_mul_left (Nat.succ n) Z _).symm.trans (sum_congr att))
  have scaled : Z * ((C.logit n t o - C.logit n t m) + r) = sum (Nat.succ n) (fun i => w i * C.term r (t n) i (t i) o m) :=
    calc Z * ((C.logit n t o - C.logit n t m) + r)
        = Z * (C.logit n t o - C.logit n t m) + Z * r := mul_add _ _ _
      _ = sum (Nat.succ n) (fun i => w i * c i) + sum (Nat.succ n) (fun i => w i * r) :=
          add_congr main (sum_mul_right (Nat.succ n) r w).symm
      _ = sum (Nat.succ n) (fun i => w i * c i + w i * r) := (sum_add _ _ _).symm
      _ = sum (Nat.succ n) (fun i => w i * (c i + r)) := sum_congr (fun i _ => (mul_add _ _ _).symm)
  ⟨neg_iff hZ scaled, nonneg_iff hZ scaled⟩

/-- **Rule `margins`, radius of a sum.** If the terms are known up to `e i` and `Σ e i ≤ R`, then an approximate sum below `-R` proves the
sum negative, and one of at least `R` proves it nonnegative. -/
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

/-- **Rule `margins`, cut weights.** If token and place weights are cut to `u`, `p` with `u ≤ U ≤ u + δu` and `p ≤ P ≤ p + δp`, then the
true weight `P U` lies in `[p u, p u + ρ]`, `ρ = p' δu + u' δp + δu δp`, where `p'`, `u'` are at least `p`, `u`. -/
theorem Rule.margins.cut (p P p' u U u' δp δu : F) (hp0 : 0 ≤ p) (hu0 : 0 ≤ u) (hp : p ≤ P ∧ P ≤ p + δp) (hu : u ≤ U ∧ U ≤ u + δu)
    (hp' : p ≤ p') (hu' : u ≤ u') : p * u ≤ P * U ∧ P * U ≤ p * u + ((p' * δu + u' * δp) + δu * δp) :=
  have dp : 0 ≤ δp := le_of_add (le_trans hp.left hp.right)
  have du : 0 ≤ δu := le_of_add (le_trans hu.left hu.right)
  ⟨mul_le_mul hp.left hu.left hp0 (le_trans hu0 hu.left),
   calc P * U ≤ (p + δp) * (u + δu) := mul_le_mul hp.right hu.right (le_trans hp0 hp.left) (add_nonneg hu0 du)
     _ = p * u + ((p * δu + u * δp) + δu * δp) := ring (p :: u :: δp :: δu :: [])
     _ ≤ p * u + ((p' * δu + u' * δp) + δu * δp) :=
        add_le_add_left (add_le_add_right (add_le_add (mul_le_mul_right hp' du) (mul_le_mul_right hu' dp)) _) _⟩
where
  le_of_add {x y : F} (h : x ≤ x + y) : 0 ≤ y := le_of (sub_nonneg h) (ring (x :: y :: []))

/-- What the rules below use: the margin is above `r` iff, for every other output, the sum of the terms is negative. -/
theorem Circuits.correct_iff (C : Circuits F) (O n : Nat) (r : F) (t : Nat → Nat) (m : Nat) (g : Nat → F) (w : Nat → Nat → F) (hg : ∀ o, 0 < g o)
    (hw : ∀ o i, i < Nat.succ n → C.weight (t n) i (t i) = g o * w o i) :
    C.Correct O n r t m ↔ ∀ o, o < O → o ≠ m → sum (Nat.succ n) (fun i => w o i * C.term r (t n) i (t i) o m) < 0 :=
  ⟨fun k o ho hne => (Rule.margins C n t o m r (g o) (w o) (hg o) (hw o)).left.mp (k o ho hne),
   fun k o ho hne => (Rule.margins C n t o m r (g o) (w o) (hg o) (hw o)).left.mpr (k o ho hne)⟩
end
end CompactProofs
