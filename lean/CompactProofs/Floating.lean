import CompactProofs.Soundness
/-!
# Floating-point programs: rule `float_count`, and part of `float_error`

A program computes logits `z o` that differ from the real-number logits `y o` by at most `ε`. That this holds for a given program is what
the rule `float_error` establishes; its step from scores to averages is here (`Rule.float_error.average`), the rounding of operations is the
subject of `Rounding.lean`.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- The margin of the program that computes the logits `z` is above `r`. -/
def AboveBy (z : Nat → F) (O : Nat) (r : F) (m : Nat) : Prop := ∀ o, o < O → o ≠ m → (z o - z m) + r < 0

/-- **Rule `float_count`, one input.** If every logit of the program is within `ε` of the true one, a true margin above a threshold of at
least `r + 2 ε` gives a margin of the program above `r`, and a true margin that is not above a threshold of at most `r - 2 ε` gives one that
is not above `r`. -/
theorem Rule.float_count.input (y z : Nat → F) (O : Nat) (m : Nat) (r r' ε : F) (h : ∀ o, z o - y o ≤ ε ∧ y o - z o ≤ ε) :
    (r + (ε + ε) ≤ r' → AboveBy y O r' m → AboveBy z O r m) ∧ (r' + (ε + ε) ≤ r → ¬ AboveBy y O r' m → ¬ AboveBy z O r m) :=
  have move : ∀ (a b : Nat → F) (s s' : F), (∀ o, a o - b o ≤ ε ∧ b o - a o ≤ ε) → s + (ε + ε) ≤ s' → AboveBy b O s' m → AboveBy a O s m := fun a b s s' hab hs k o ho hne =>
    lt_of_le_of_lt (le_of (add_nonneg (sub_nonneg hs) (add_nonneg (sub_nonneg (hab o).left) (sub_nonneg (hab m).right)))
      (ring (a o :: b o :: a m :: b m :: s :: s' :: ε :: []))) (k o ho hne)
  ⟨fun hs k => move z y r r' h hs k, fun hs k l => k (move y z r' r (fun o => ⟨(h o).right, (h o).left⟩) hs l)⟩

/-- **Rule `float_count`.** Counts of right and wrong inputs over the real numbers, at thresholds `r₁ ≥ r + 2 ε` and `r₂ ≤ r - 2 ε`, are
counts of right and wrong inputs of the program at the threshold `r`. `z t o` is the logit that the program computes on `t`; `real₁`,
`real₂` and `program` mark the inputs with margins above the three thresholds. -/
theorem Rule.float_count (M : Model F) (O n : Nat) (r r₁ r₂ ε : F) (v N : Nat) (t₀ : Nat → Nat) (lab : (Nat → Nat) → Nat) (z : (Nat → Nat) → Nat → F)
    (region real₁ real₂ program : (Nat → Nat) → Bool)
    (hz : ∀ t, Fills v N t₀ t → region t = true → ∀ o, z t o - M.logit n t o ≤ ε ∧ M.logit n t o - z t o ≤ ε)
    (h₁ : ∀ t, Fills v N t₀ t → (real₁ t = true ↔ M.Correct O n r₁ t (lab t))) (h₂ : ∀ t, Fills v N t₀ t → (real₂ t = true ↔ M.Correct O n r₂ t (lab t)))
    (hp : ∀ t, Fills v N t₀ t → (program t = true ↔ AboveBy (z t) O r (lab t))) (k₁ : r + (ε + ε) ≤ r₁) (k₂ : r₂ + (ε + ε) ≤ r) :
    count v N (fun t => both (region t) (real₁ t)) t₀ ≤ count v N (fun t => both (region t) (program t)) t₀ ∧
    count v N (fun t => both (region t) (not (real₂ t))) t₀ ≤ count v N (fun t => both (region t) (not (program t))) t₀ :=
  ⟨count_le (fun s hs h => both_intro (both_left h) ((hp s hs).mpr
      ((Rule.float_count.input (M.logit n s) (z s) O (lab s) r r₁ ε (hz s hs (both_left h))).left k₁ ((h₁ s hs).mp (both_right h))))),
   count_le (fun s hs h => both_intro (both_left h) (replace (eq_false_of_ne_true (fun k =>
      (Rule.float_count.input (M.logit n s) (z s) O (lab s) r r₂ ε (hz s hs (both_left h))).right k₂
        (fun c => absurd (Eq.subst (motive := fun b => not b = true) ((h₂ s hs).mpr c) (both_right h)).symm true_ne_false) ((hp s hs).mp k))) (fun b => not b = true) rfl))⟩

/-- A linear function that is nonnegative at both ends of an interval is nonnegative in between. -/
theorem linear_nonneg {α β lo hi x : F} (hl : lo ≤ x) (hh : x ≤ hi) (kl : 0 ≤ α + β * lo) (kh : 0 ≤ α + β * hi) : 0 ≤ α + β * x :=
  (ExpField.le_total 0 β).elim
    (fun h => le_trans kl (add_le_add_left (mul_le_mul_left hl h) α))
    (fun h => le_trans kh (le_of (mul_nonneg (neg_nonneg h) (sub_nonneg hh)) (ring (α :: β :: hi :: x :: []))))

/-- The heart of the next theorem: `a`, `b` are what two weightings of the same numbers give to the two ends, `u ≤ E a` and `b ≤ E v`. -/
theorem shift_core {E a b u w : F} (hE : 1 ≤ E) (ha : 0 ≤ a) (hb : 0 ≤ b) (hu : 0 ≤ u) (hw : 0 ≤ w) (hua : u ≤ E * a) (hbw : b ≤ E * w) :
    (E + 1) * (u * b - a * w) ≤ (E - 1) * ((u + w) * (a + b)) :=
  have E1 : 0 ≤ E - 1 := sub_nonneg hE
  have E0 : 0 ≤ E := le_trans zero_le_one hE
  have two0 : (0 : F) ≤ 1 + 1 := le_of_lt two_pos
  -- the difference, as a linear function of `u` and then of `b`
  let P := fun u b => ((E - 1) * (w * b) + (1 + 1) * (E * (a * w))) + ((E - 1) * a - (1 + 1) * b) * u
  have at0 : 0 ≤ P 0 b := nonneg_of (add_nonneg (mul_nonneg E1 (mul_nonneg hw hb)) (mul_nonneg two0 (mul_nonneg E0 (mul_nonneg ha hw))))
    (show ((E - 1) * (w * b) + (1 + 1) * (E * (a * w))) + ((E - 1) * a - (1 + 1) * b) * 0 = (E - 1) * (w * b) + (1 + 1) * (E * (a * w)) from ring (E :: a :: b :: w :: []))
  have atE : 0 ≤ P (E * a) b :=
    have form : ∀ b, P (E * a) b = ((E - 1) * (E * (a * a)) + (1 + 1) * (E * (a * w))) + ((E - 1) * w - (1 + 1) * (E * a)) * b := fun b =>
      show ((E - 1) * (w * b) + (1 + 1) * (E * (a * w))) + ((E - 1) * a - (1 + 1) * b) * (E * a)
          = ((E - 1) * (E * (a * a)) + (1 + 1) * (E * (a * w))) + ((E - 1) * w - (1 + 1) * (E * a)) * b from ring (E :: a :: b :: w :: [])
    nonneg_of (linear_nonneg hb hbw
      (nonneg_of (add_nonneg (mul_nonneg E1 (mul_nonneg E0 (square_nonneg a))) (mul_nonneg two0 (mul_nonneg E0 (mul_nonneg ha hw))))
        (ring (E :: a :: w :: []) : ((E - 1) * (E * (a * a)) + (1 + 1) * (E * (a * w))) + ((E - 1) * w - (1 + 1) * (E * a)) * 0 = (E - 1) * (E * (a * a)) + (1 + 1) * (E * (a * w))))
      (nonneg_of (mul_nonneg (mul_nonneg E0 E1) (square_nonneg (a - w)))
        (ring (E :: a :: w :: []) : ((E - 1) * (E * (a * a)) + (1 + 1) * (E * (a * w))) + ((E - 1) * w - (1 + 1) * (E * a)) * (E * w) = (E * (E - 1)) * ((a - w) * (a - w))))) (form b)
  le_of (linear_nonneg hu hua at0 atE)
    (show (E - 1) * ((u + w) * (a + b)) - (E + 1) * (u * b - a * w) = ((E - 1) * (w * b) + (1 + 1) * (E * (a * w))) + ((E - 1) * a - (1 + 1) * b) * u from
      ring (E :: a :: b :: u :: w :: []))

/-- **Rule `float_error`, from scores to averages.** If the scores are off by at most `D` (up to a number common to all, so that the weights
are off by factors between `1/E` and `E`, `E = exp D`), then the average of numbers between `lo` and `hi` moves by at most `τ (hi - lo)`,
where `τ ≥ (E - 1) / (E + 1)`, which is the hyperbolic tangent of
`D / 2` and over the reals at most `D / 2`. -/
theorem Rule.float_error.average (n : Nat) (w u c : Nat → F) (E τ lo hi : F) (hw : ∀ i, i < Nat.succ n → 0 < w i) (hu : ∀ i, i < Nat.succ n → 0 < u i)
    (hE : 1 ≤ E) (h1 : ∀ i, i < Nat.succ n → u i ≤ E * w i) (h2 : ∀ i, i < Nat.succ n → w i ≤ E * u i) (hc : ∀ i, i < Nat.succ n → lo ≤ c i ∧ c i ≤ hi)
    (hτ : E - 1 ≤ τ * (E + 1)) :
    sum (Nat.succ n) (fun i => softmax n u i * c i) - sum (Nat.succ n) (fun i => softmax n w i * c i) ≤ τ * (hi - lo) :=
  let N := Nat.succ n
  let W := sum N w
  let U := sum N u
  let p := fun i => c i - lo
  let q := fun i => hi - c i
  let R := hi - lo
  let a := sum N (fun i => w i * p i)
  let b := sum N (fun i => w i * q i)
  let x := sum N (fun i => u i * p i)
  let y := sum N (fun i => u i * q i)
  have W0 : 0 < W := sum_pos hw
  have U0 : 0 < U := sum_pos hu
  have p0 : ∀ i, i < N → 0 ≤ p i := fun i hi => sub_nonneg (hc i hi).left
  have q0 : ∀ i, i < N → 0 ≤ q i := fun i hi => sub_nonneg (hc i hi).right
  have R0 : 0 ≤ R := le_trans (add_nonneg (p0 0 (succ_le_succ (nat_zero_le n))) (q0 0 (succ_le_succ (nat_zero_le n)))) (le_of_eq (ring (c 0 :: lo :: hi :: [])))
  have ab : ∀ v : Nat → F, sum N (fun i => v i * p i) + sum N (fun i => v i * q i) = R * sum N v := fun v =>
    (sum_add N _ _).symm.trans ((sum_congr (fun i _ => (ring (v i :: c i :: lo :: hi :: []) : v i * (c i - lo) + v i * (hi - c i) = (hi - lo) * v i))).trans (sum_mul_left N R v))
  have avg : ∀ v : Nat → F, 0 < sum N v → sum N v * sum N (fun i => (v i / sum N v) * c i) = lo * sum N v + sum N (fun i => v i * p i) := fun v hv =>
    calc sum N v * sum N (fun i => (v i / sum N v) * c i) = sum N (fun i => sum N v * ((v i / sum N v) * c i)) := (sum_mul_left N _ _).symm
      _ = sum N (fun i => lo * v i + v i * p i) := sum_congr (fun i _ =>
          calc sum N v * ((v i / sum N v) * c i) = (sum N v * (v i / sum N v)) * c i := (mul_assoc _ _ _).symm
            _ = v i * c i := mul_congr (div_mul hv) rfl
            _ = lo * v i + v i * (c i - lo) := ring (v i :: c i :: lo :: []))
      _ = lo * sum N v + sum N (fun i => v i * p i) := (sum_add N _ _).trans (add_congr (sum_mul_left N lo v) rfl)
  let mw := sum N (fun i => softmax n w i * c i)
  let mu := sum N (fun i => softmax n u i * c i)
  have ew : W * mw = lo * W + a := avg w W0
  have eu : U * mu = lo * U + x := avg u U0
  -- cross-multiplied: U W (mu - mw) = x W - a U, and R times that is x b - a y
  have cross : (U * W) * (mu - mw) = x * W - a * U :=
    calc (U * W) * (mu - mw) = W * (U * mu) - U * (W * mw) := ring (U :: W :: mu :: mw :: [])
      _ = W * (lo * U + x) - U * (lo * W + a) := sub_congr (mul_congr rfl eu) (mul_congr rfl ew)
      _ = x * W - a * U := ring (W :: U :: lo :: x :: a :: [])
  have core : (E + 1) * (x * b - a * y) ≤ (E - 1) * ((x + y) * (a + b)) :=
    shift_core hE (sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hw i hi)) (p0 i hi))) (sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hw i hi)) (q0 i hi)))
      (sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hu i hi)) (p0 i hi))) (sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hu i hi)) (q0 i hi)))
      (le_trans (sum_le (fun i hi => le_trans (mul_le_mul_right (h1 i hi) (p0 i hi)) (le_of_eq (mul_assoc _ _ _)))) (le_of_eq (sum_mul_left N E _)))
      (le_trans (sum_le (fun i hi => le_trans (mul_le_mul_right (h2 i hi) (q0 i hi)) (le_of_eq (mul_assoc _ _ _)))) (le_of_eq (sum_mul_left N E _)))
  have xy : x + y = R * U := ab u
  have eab : a + b = R * W := ab w
  have key : R * ((E + 1) * (x * W - a * U)) ≤ R * ((E - 1) * (R * (U * W))) :=
    calc R * ((E + 1) * (x * W - a * U)) = (E + 1) * (x * (R * W) - a * (R * U)) := ring (R :: E :: x :: W :: a :: U :: [])
      _ = (E + 1) * (x * (a + b) - a * (x + y)) := mul_congr rfl (sub_congr (mul_congr rfl eab.symm) (mul_congr rfl xy.symm))
      _ = (E + 1) * (x * b - a * y) := ring (E :: x :: a :: b :: y :: [])
      _ ≤ (E - 1) * ((x + y) * (a + b)) := core
      _ = (E - 1) * ((R * U) * (R * W)) := mul_congr rfl (mul_congr xy eab)
      _ = R * ((E - 1) * (R * (U * W))) := ring (R :: E :: U :: W :: [])
  have E1 : 0 < E + 1 := add_pos' (le_trans zero_le_one hE) zero_lt_one
  have UW : 0 < U * W := mul_pos U0 W0
  have last : (E + 1) * (x * W - a * U) ≤ (E - 1) * (R * (U * W)) :=
    (lt_or_le 0 R).elim (fun h => le_of_mul_le_mul h key)
      (fun h =>
        have z : R = 0 := le_antisymm h R0
        have x0 : 0 ≤ x := sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hu i hi)) (p0 i hi))
        have y0 : 0 ≤ y := sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hu i hi)) (q0 i hi))
        have a0 : 0 ≤ a := sum_nonneg (fun i hi => mul_nonneg (le_of_lt (hw i hi)) (p0 i hi))
        have xz : x ≤ 0 := calc x ≤ x + y := le_of y0 (ring (x :: y :: []))
          _ = R * U := xy
          _ = 0 * U := mul_congr z rfl
          _ = 0 := zero_mul U
        have xW : x * W ≤ 0 := le_trans (mul_le_mul_right xz (le_of_lt W0)) (le_of_eq (zero_mul W))
        calc (E + 1) * (x * W - a * U) ≤ (E + 1) * 0 := mul_le_mul_left (le_of (add_nonneg (sub_nonneg xW) (mul_nonneg a0 (le_of_lt U0))) (ring (x :: W :: a :: U :: []))) (le_of_lt E1)
          _ = 0 := mul_zero _
          _ ≤ (E - 1) * (R * (U * W)) := mul_nonneg (sub_nonneg hE) (mul_nonneg R0 (le_of_lt UW)))
  le_of_mul_le_mul (mul_pos E1 UW)
    (calc ((E + 1) * (U * W)) * (mu - mw) = (E + 1) * ((U * W) * (mu - mw)) := mul_assoc _ _ _
      _ = (E + 1) * (x * W - a * U) := mul_congr rfl cross
      _ ≤ (E - 1) * (R * (U * W)) := last
      _ ≤ (τ * (E + 1)) * (R * (U * W)) := mul_le_mul_right hτ (mul_nonneg R0 (le_of_lt UW))
      _ = ((E + 1) * (U * W)) * (τ * R) := ring (τ :: E :: R :: U :: W :: []))
end
end CompactProofs
