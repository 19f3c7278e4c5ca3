import CompactProofs.Machine
/-!
# Rule `float_error`: from the operations of a program to its logits

`Program`: the results of one evaluation, with `Program.Runs`, what is assumed of each of them. `Numbers`: what the checker computes, with
`Numbers.Covers`, the inequalities that it keeps by rounding up. The theorem `Rule.float_error` is at the end.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-! ## The stages -/

/-- **Rule `float_error`, steps 1 and 2.** `x W + b` from inputs that were rounded once: `γ_{N+2} + u ≤ γ_{N+3}`. -/
theorem Rule.float_error.layer (μ : Machine F) {d : Nat} {x y a X : Nat → F} {W A : Nat → Nat → F} {j : Nat} {b c r g e : F} (k : cast d + 1 + 1 ≤ μ.D)
    (hx : ∀ l, l < d → Once μ.u μ.ζ (y l) (x l)) (ha : ∀ l, l < d → Abs (x l) (a l)) (hX : ∀ l, l < d → a l + (a l * μ.u + μ.ζ) ≤ X l)
    (hW : ∀ l, l < d → Abs (W l j) (A l j)) (hb : Abs b c) (hr : Dot μ d y (fun l => W l j) b r) (hg : γ ((cast d + 1 + 1 + 1) * μ.u) ≤ g)
    (he : g * (vecMul d X A j + c) + (vecMul d (fun _ => μ.ζ) A j + μ.ζ) ≤ e) (hM : ∀ l, l < d → X l ≤ μ.M) (hWM : ∀ l, l < d → Abs (W l j) μ.M)
    (large : (1 + 1) * (vecMul d X A j + c) ≤ μ.M) : Abs (r - (vecMul d x W j + b)) e ∧ Abs r μ.M :=
  let L := vecMul d X A j
  let z := vecMul d (fun _ => μ.ζ) A j
  let m := (cast d + 1 + 1) * μ.u
  have near : ∀ l, l < d → Abs (y l - x l) (X l * μ.u + μ.ζ) := fun l hl =>
    have a0 : 0 ≤ a l := abs_nonneg (ha l hl)
    have aX : a l ≤ X l := le_trans (le_of (add_nonneg (mul_nonneg a0 μ.u_nonneg) μ.ζ_nonneg) (ring (a l :: μ.u :: μ.ζ :: []))) (hX l hl)
    abs_le ((hx l hl).error (ha l hl)) (add_le_add_right (mul_le_mul_right aX μ.u_nonneg) μ.ζ)
  have size : ∀ l, l < d → Abs (y l) (X l) := fun l hl =>
    abs_le (abs_of (abs_add (ha l hl) ((hx l hl).error (ha l hl))) (ring (x l :: y l :: []))) (hX l hl)
  have dot := Rule.float_error.products μ hr k size hW hb (fun l hl => ⟨abs_le (size l hl) (hM l hl), hWM l hl⟩) large
  have stage := Rule.float_error.linear d x y (fun l => X l * μ.u + μ.ζ) W A j b r _ near hW dot.left
  have split : vecMul d (fun l => X l * μ.u + μ.ζ) A j = L * μ.u + z :=
    (vecMul_add d (fun l => X l * μ.u) (fun _ => μ.ζ) A j).trans (add_congr
      ((sum_congr (fun l _ => (ring (X l :: μ.u :: A l j :: []) : X l * μ.u * A l j = X l * A l j * μ.u))).trans (sum_mul_right d μ.u (fun l => X l * A l j))) rfl)
  have m0 : 0 ≤ m := mul_nonneg (add_nonneg (add_nonneg (cast_nonneg d) zero_le_one) zero_le_one) μ.u_nonneg
  have same : (cast d + 1 + 1 + 1) * μ.u = m + μ.u := (ring (cast d :: μ.u :: []) : (cast d + 1 + 1 + 1) * μ.u = (cast d + 1 + 1) * μ.u + μ.u)
  have q : Quarter (m + μ.u) := (μ.quarter' (k := cast d + 1 + 1 + 1) (add_le_add_right k 1)).le (le_of_eq same.symm)
  have next : γ m + μ.u ≤ g := le_trans (gamma_step m0 μ.u_nonneg q.lt) (le_trans (le_of_eq (congrArg γ same.symm)) hg)
  have L0 : 0 ≤ L := sum_nonneg (fun l hl => mul_nonneg (abs_nonneg (size l hl)) (abs_nonneg (hW l hl)))
  have c0 : 0 ≤ c := abs_nonneg hb
  ⟨abs_le stage
    (calc (γ m * (L + c) + μ.ζ) + vecMul d (fun l => X l * μ.u + μ.ζ) A j = (γ m * (L + c) + μ.ζ) + (L * μ.u + z) := add_congr rfl split
      _ ≤ (γ m + μ.u) * (L + c) + (z + μ.ζ) := le_of (mul_nonneg μ.u_nonneg c0) (ring (γ m :: L :: c :: μ.ζ :: μ.u :: z :: []) :
          ((γ m + μ.u) * (L + c) + (z + μ.ζ)) - ((γ m * (L + c) + μ.ζ) + (L * μ.u + z)) = μ.u * c)
      _ ≤ g * (L + c) + (z + μ.ζ) := add_le_add_right (mul_le_mul_right next (add_nonneg L0 c0)) _
      _ ≤ e := he), dot.right⟩

/-- **Rule `float_error`, step 3**: a score, and how large it can be. -/
theorem Rule.float_error.score (μ : Machine F) {d : Nat} {q p e Q k l g K : Nat → F} {r s c η σ Δ gh g4 : F} (kd : cast d + 1 + 1 ≤ μ.D) (c0 : 0 ≤ c)
    (hq : ∀ h, h < d → Abs (p h - q h) (e h)) (hk : ∀ h, h < d → Abs (l h - k h) (g h)) (hQ : ∀ h, h < d → Abs (q h) (Q h)) (hK : ∀ h, h < d → Abs (k h) (K h))
    (hr : Dot μ d p l 0 r) (hs : Abs r μ.M → Within ((1 + 1) * (1 + 1) * μ.u) μ.ζ s (c * r)) (hgh : γ ((cast d + 1 + 1) * μ.u) ≤ gh) (hg4 : γ ((1 + 1) * (1 + 1) * μ.u) ≤ g4)
    (hη : sum d (fun h => (Q h + e h) * (g h + gh * (K h + g h)) + e h * K h) + μ.ζ ≤ η) (hσ : sum d (fun h => (Q h + e h) * (K h + g h)) ≤ σ)
    (hΔ : c * (η + g4 * (σ + η)) + μ.ζ ≤ Δ) (hM : ∀ h, h < d → Abs (p h) μ.M ∧ Abs (l h) μ.M) (large : (1 + 1) * σ ≤ μ.M) :
    Abs (s - c * sum d (fun h => q h * k h)) Δ ∧ Abs (c * sum d (fun h => q h * k h)) (c * σ) :=
  let m := γ ((cast d + 1 + 1) * μ.u)
  let x := sum d (fun h => q h * k h)
  let AB := sum d (fun h => (Q h + e h) * (K h + g h))
  let moved := sum d (fun h => (Q h + e h) * g h + e h * K h)
  have pq : ∀ h, h < d → Abs (p h) (Q h + e h) := fun h hh => abs_of (abs_add (hQ h hh) (hq h hh)) (ring (p h :: q h :: []))
  have lk : ∀ h, h < d → Abs (l h) (K h + g h) := fun h hh => abs_of (abs_add (hK h hh) (hk h hh)) (ring (l h :: k h :: []))
  have products := Rule.float_error.products μ hr kd pq lk (abs_zero (le_refl 0)) hM
    (le_trans (mul_le_mul_left (le_trans (le_of_eq (add_zero AB)) hσ) (le_of_lt two_pos)) large)
  have dot : Abs (r - sum d (fun h => p h * l h)) (m * AB + μ.ζ) :=
    abs_le (abs_of products.left (sub_congr rfl (add_zero _).symm))
      (le_of_eq (add_congr (mul_congr rfl (add_zero AB)) rfl))
  have AB0 : 0 ≤ AB := sum_nonneg (fun h hh => mul_nonneg (abs_nonneg (pq h hh)) (abs_nonneg (lk h hh)))
  have split : sum d (fun h => (Q h + e h) * (g h + gh * (K h + g h)) + e h * K h) = moved + gh * AB :=
    (sum_congr (fun h _ => (ring (Q h :: e h :: g h :: gh :: K h :: []) :
      (Q h + e h) * (g h + gh * (K h + g h)) + e h * K h = ((Q h + e h) * g h + e h * K h) + gh * ((Q h + e h) * (K h + g h))))).trans
      ((sum_add d _ _).trans (add_congr rfl (sum_mul_left d gh _)))
  have first : Abs (r - x) η := abs_le (Rule.float_error.scores d q p e Q k l g K r _ hq hk hQ hK dot)
    (calc (m * AB + μ.ζ) + moved ≤ (gh * AB + μ.ζ) + moved := add_le_add_right (add_le_add_right (mul_le_mul_right hgh AB0) _) _
      _ = (moved + gh * AB) + μ.ζ := ring (gh * AB :: μ.ζ :: moved :: [])
      _ = sum d (fun h => (Q h + e h) * (g h + gh * (K h + g h)) + e h * K h) + μ.ζ := add_congr split.symm rfl
      _ ≤ η := hη)
  have large : Abs x σ := abs_le (abs_sum d (fun h hh => abs_mul
      (abs_le (hQ h hh) (le_of (abs_nonneg (hq h hh)) (ring (Q h :: e h :: []) : (Q h + e h) - Q h = e h)))
      (abs_le (hK h hh) (le_of (abs_nonneg (hk h hh)) (ring (K h :: g h :: []) : (K h + g h) - K h = g h))))) hσ
  have size : Abs (c * r) (c * (σ + η)) := abs_mul (abs_self c0) (abs_of (abs_add large first) (ring (r :: x :: [])))
  have four : (1 + 1) * (1 + 1) ≤ (1 + 1) * μ.D + 1 :=
    le_of (add_nonneg (mul_nonneg (le_of_lt two_pos) (add_nonneg (sub_nonneg kd) (cast_nonneg d))) zero_le_one) (ring (μ.D :: cast d :: []) :
      ((1 + 1) * μ.D + 1) - (1 + 1) * (1 + 1) = (1 + 1) * ((μ.D - (cast d + 1 + 1)) + cast d) + 1)
  have whole := (hs products.right).error (mul_nonneg (mul_nonneg (le_of_lt two_pos) (le_of_lt two_pos)) μ.u_nonneg) (μ.quarter four).lt size
  let f := γ ((1 + 1) * (1 + 1) * μ.u)
  have σ0 : 0 ≤ c * (σ + η) := abs_nonneg size
  ⟨abs_le (abs_of (abs_add whole (abs_mul (abs_self c0) first)) (ring (s :: c :: r :: x :: []) : s - c * x = (s - c * r) + c * (r - x)))
    (calc (c * (σ + η) * f + μ.ζ) + c * η ≤ (c * (σ + η) * g4 + μ.ζ) + c * η := add_le_add_right (add_le_add_right (mul_le_mul_left hg4 σ0) _) _
      _ = c * (η + g4 * (σ + η)) + μ.ζ := ring (c :: σ :: η :: g4 :: μ.ζ :: [])
      _ ≤ Δ := hΔ), abs_mul (abs_self c0) large⟩

/-- `x` if true, `y` if not. -/
def firstIf : Bool → F → F → F
  | true, x, _ => x
  | false, _, y => y
/-- Finitely many choices. -/
theorem choices (P : Nat → F → Prop) : (N : Nat) → (∀ i, i < N → Exists fun x => P i x) → Exists fun f : Nat → F => ∀ i, i < N → P i (f i)
  | .zero, _ => ⟨fun _ => 0, fun _ h => (not_lt_zero h).elim⟩
  | .succ N, h => match choices P N (fun i hi => h i (lt_succ_of_lt hi)), h N (lt_succ_self N) with
    | ⟨f, hf⟩, ⟨x, hx⟩ => ⟨fun i => firstIf (Nat.beq i N) x (f i), fun i hi => match lt_or_eq_of_lt_succ hi with
      | .inl l => replace (congrArg (fun b => firstIf b x (f i)) (beq_false (fun e => nat_ne_of_lt l e))) (P i) (hf i l)
      | .inr e => Eq.subst (motive := fun j => P j (firstIf (Nat.beq j N) x (f j))) e.symm
          (replace (congrArg (fun b => firstIf b x (f N)) (beq_refl N)) (P N) hx)⟩

/-- **Rule `float_error`, step 4**: the weights of the program. Its scores `s` are off by at most `Δ'` from `c`, and at most `ρ` apart; `m` is one
of them. But for underflow its exponentials are those of `c` up to factors `exp Δ`, the largest at least 3/4. -/
theorem Rule.float_error.weights (μ : Machine F) (n : Nat) {c s a e : Nat → F} {m Δ' ρ Δ gE B : F} (hs : ∀ i, i < Nat.succ n → Abs (s i - c i) Δ')
    (hc : ∀ i, i < Nat.succ n → Abs (c i) B) (hρ : (1 + 1) * (B + Δ') ≤ ρ) (hm : Exists fun j => j < Nat.succ n ∧ m = s j ∧ a j = 0)
    (ha : ∀ i, i < Nat.succ n → Abs (s i) μ.M → Abs m μ.M → Once μ.u μ.ζ (a i) (s i - m) ∧ a i ≤ 0) (hM : ρ ≤ μ.M)
    (hg : γ ((1 + 1) * μ.E * μ.u) ≤ gE) (hΔ : Δ' + (ρ * μ.u + μ.ζ) + gE ≤ Δ)
    (he : ∀ i, i < Nat.succ n → Within ((1 + 1) * μ.E * μ.u) ((1 + 1) * (μ.E * μ.ν)) (e i) (exp (a i))) :
    Exists fun w : Nat → F => (∀ i, i < Nat.succ n → 0 < w i ∧ w i ≤ exp Δ * exp (c i - m) ∧ exp (c i - m) ≤ exp Δ * w i ∧ Abs (e i - w i) ((1 + 1) * (μ.E * μ.ν)) ∧
        (1 + 1 + 1) * w i ≤ (1 + 1) * (1 + 1)) ∧
      Exists fun j => j < Nat.succ n ∧ 1 + 1 + 1 ≤ (1 + 1) * ((1 + 1) * w j) := match choices _ (Nat.succ n) he with
  | ⟨f, hf⟩ =>
    let A := (1 + 1) * μ.E * μ.u
    let w := fun i => exp (a i) * f i
    have A0 : 0 ≤ A := mul_nonneg (mul_nonneg (le_of_lt two_pos) μ.E_nonneg) μ.u_nonneg
    have sB : ∀ i, i < Nat.succ n → Abs (s i) (B + Δ') := fun i hi => abs_of (abs_add (hc i hi) (hs i hi)) (ring (s i :: c i :: []))
    have B0 : 0 ≤ B + Δ' := match hm with | ⟨j, hj, _⟩ => abs_nonneg (sB j hj)
    have sM : ∀ i, i < Nat.succ n → Abs (s i) μ.M := fun i hi => abs_le (sB i hi)
      (le_trans (le_of B0 (ring (B :: Δ' :: []) : (1 + 1) * (B + Δ') - (B + Δ') = B + Δ')) (le_trans hρ hM))
    have mM : Abs m μ.M := match hm with | ⟨j, hj, em, _⟩ => abs_of (sM j hj) em
    have apart : ∀ i, i < Nat.succ n → Abs (s i - m) ρ := match hm with
      | ⟨j, hj, em, _⟩ => fun i hi => abs_le (abs_of (abs_add (sB i hi) (abs_neg (sB j hj))) (sub_congr rfl em))
          (le_trans (le_of_eq (ring (B :: Δ' :: []) : (B + Δ') + (B + Δ') = (1 + 1) * (B + Δ'))) hρ)
    have off : ∀ i, i < Nat.succ n → Abs (a i - (c i - m)) (Δ' + (ρ * μ.u + μ.ζ)) := fun i hi =>
      abs_of (abs_add (hs i hi) ((ha i hi (sM i hi) mM).left.error (apart i hi))) (ring (a i :: c i :: m :: s i :: []))
    have room : exp (Δ' + (ρ * μ.u + μ.ζ) + γ A) ≤ exp Δ := exp_le_exp (le_trans (add_le_add_left hg _) hΔ)
    have w0 : ∀ i, i < Nat.succ n → 0 < w i := fun i hi => mul_pos (exp_pos (a i)) (factor_pos (hf i hi).left μ.exps.lt)
    ⟨w, fun i hi =>
      have both := Rule.float_error.exponential (s := c i - m) (hf i hi).left A0 μ.exps.lt (gamma_mul μ.exps.lt) (off i hi)
      have same : exp ((c i - m) + (a i - (c i - m))) = exp (a i) := congrArg exp (ring (a i :: c i :: m :: []))
      have up : w i ≤ exp (Δ' + (ρ * μ.u + μ.ζ) + γ A) * exp (c i - m) := le_trans (le_of_eq (mul_congr same.symm rfl)) both.left
      have down : exp (c i - m) ≤ exp (Δ' + (ρ * μ.u + μ.ζ) + γ A) * w i := le_trans both.right (le_of_eq (mul_congr rfl (mul_congr same rfl)))
      ⟨w0 i hi, le_trans up (mul_le_mul_right room (exp_nonneg _)), le_trans down (mul_le_mul_right room (le_of_lt (w0 i hi))), (hf i hi).right,
        -- at most 1 / (1 - 2 E u) ≤ 4/3
        have one : exp (a i) ≤ 1 := le_trans (exp_le_exp (ha i hi (sM i hi) mM).right) (le_of_eq exp_zero)
        have f0 : 0 ≤ f i := le_of_lt (factor_pos (hf i hi).left μ.exps.lt)
        have wf : w i ≤ f i := le_trans (mul_le_mul_right one f0) (le_of_eq (one_mul _))
        have top : (1 + 1 + 1) * f i ≤ (1 + 1) * (1 + 1) := le_of
          (add_nonneg (mul_nonneg (mul_nonneg (le_of_lt two_pos) (le_of_lt two_pos)) (sub_nonneg (hf i hi).left.right)) (mul_nonneg f0 (sub_nonneg μ.exps)))
          (ring (f i :: A :: []) : (1 + 1) * (1 + 1) - (1 + 1 + 1) * f i = (1 + 1) * (1 + 1) * (1 - f i * (1 - A)) + f i * (1 - (1 + 1) * ((1 + 1) * A)))
        le_trans (mul_le_mul_left wf (add_nonneg (le_of_lt two_pos) zero_le_one)) top⟩,
     match hm with
     | ⟨j, hj, _, aj⟩ => ⟨j, hj,
        have one : w j = f j := (mul_congr ((congrArg exp aj).trans exp_zero) rfl).trans (one_mul (f j))
        have least : (1 + 1) * ((1 + 1) * (1 - A)) ≤ (1 + 1) * ((1 + 1) * w j) := mul_le_mul_left (mul_le_mul_left
          (le_trans (hf j hj).left.left (le_of_eq one.symm)) (le_of_lt two_pos)) (le_of_lt two_pos)
        le_trans (le_of (sub_nonneg μ.exps) (ring (A :: []) : (1 + 1) * ((1 + 1) * (1 - A)) - (1 + 1 + 1) = 1 - (1 + 1) * ((1 + 1) * A))) least⟩⟩

/-- **Rule `float_error`, step 4**: the average of numbers between `lo` and `hi` under two weightings, by the smaller of `Δ/2` and 1. -/
theorem Rule.float_error.moved (archimedes : ∀ x c : F, (∀ k, double k * x ≤ c) → x ≤ 0) (n : Nat) {w u c : Nat → F} {Δ τ lo hi R : F} (hw : ∀ i, i < Nat.succ n → 0 < w i)
    (hu : ∀ i, i < Nat.succ n → 0 < u i) (hΔ : 0 ≤ Δ) (h1 : ∀ i, i < Nat.succ n → u i ≤ exp Δ * w i) (h2 : ∀ i, i < Nat.succ n → w i ≤ exp Δ * u i)
    (hc : ∀ i, i < Nat.succ n → lo ≤ c i ∧ c i ≤ hi) (hR : hi - lo ≤ R) (hτ : Δ ≤ τ + τ ∨ 1 ≤ τ) :
    Abs (sum (Nat.succ n) (fun i => softmax n u i * c i) - sum (Nat.succ n) (fun i => softmax n w i * c i)) (τ * R) :=
  have pair : Exists fun E : F => exp Δ ≤ E ∧ E - 1 ≤ τ * (E + 1) ∧ 0 ≤ τ := match hτ with
    | .inl h => ⟨exp (τ + τ), exp_le_exp h, Rule.float_error.tangent archimedes (le_trans hΔ h) rfl,
        nonneg_of_mul two_pos (nonneg_of (le_trans hΔ h) (ring (τ :: []) : (1 + 1) * τ = τ + τ))⟩
    | .inr h => ⟨exp Δ, le_refl _, le_of (add_nonneg (mul_nonneg (sub_nonneg h) (add_nonneg (exp_nonneg Δ) zero_le_one)) (le_of_lt two_pos))
        (ring (τ :: exp Δ :: []) : τ * (exp Δ + 1) - (exp Δ - 1) = (τ - 1) * (exp Δ + 1) + (1 + 1)), le_trans zero_le_one h⟩
  match pair with
  | ⟨E, hE, ht, τ0⟩ =>
    have E1 : 1 ≤ E := le_trans (le_trans (le_of hΔ (ring (Δ :: []))) (one_add_le_exp Δ)) hE
    have up : ∀ i, i < Nat.succ n → u i ≤ E * w i := fun i hi => le_trans (h1 i hi) (mul_le_mul_right hE (le_of_lt (hw i hi)))
    have down : ∀ i, i < Nat.succ n → w i ≤ E * u i := fun i hi => le_trans (h2 i hi) (mul_le_mul_right hE (le_of_lt (hu i hi)))
    let x := sum (Nat.succ n) (fun i => softmax n u i * c i)
    let y := sum (Nat.succ n) (fun i => softmax n w i * c i)
    ⟨le_trans (Rule.float_error.average n w u c E τ lo hi hw hu E1 up down hc ht) (mul_le_mul_left hR τ0),
     le_trans (le_of_eq (ring (x :: y :: []) : -(x - y) = y - x)) (le_trans (Rule.float_error.average n u w c E τ lo hi hu hw E1 down up hc ht) (mul_le_mul_left hR τ0))⟩

theorem cast_fourteen : (cast 14 : F) = (1 + 1) * ((1 + 1) * (1 + 1 + 1) + 1) :=
  show ((((((((((((((0 + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1 : F) = (1 + 1) * ((1 + 1) * (1 + 1 + 1) + 1) from ring []

/-- **Rule `float_error`, step 5.** The average of the values, from the shares of `Rule.float_error.underflow`. -/
theorem Rule.float_error.head (μ : Machine F) (n : Nat) {β α v y : Nat → F} {V g z e gz : F} (k : cast n + 1 + 1 ≤ μ.D) (total : sum n β = 1) (hβ : ∀ i, i < n → 0 ≤ β i)
    (ha : ∀ i, i < n → Abs (α i - β i) (γ ((cast n + 1 + 1 + 1) * μ.u) * β i + cast 10 * μ.ζ)) (hy : ∀ i, i < n → Abs (y i - v i) g) (hv : ∀ i, i < n → Abs (v i) V)
    (V0 : 0 ≤ V + g) (hz : Dot μ n α y 0 z) (hg : γ (((1 + 1) * cast n + cast 5) * μ.u) ≤ gz) (he : g + (gz + cast 14 * cast n * μ.ζ) * (V + g) + μ.ζ ≤ e)
    (hM : ∀ i, i < n → Abs (α i) μ.M ∧ Abs (y i) μ.M) (large : (1 + 1) * (V + e) ≤ μ.M) : Abs (z - sum n (fun i => β i * v i)) e ∧ Abs z μ.M :=
  let N : F := cast n
  let ζ := μ.ζ
  let θ := γ ((N + 1 + 1 + 1) * μ.u)
  let p := γ ((N + 1 + 1) * μ.u)
  let ξ := cast 10 * ζ
  let W := V + g
  let x := θ + ξ * N
  have u0 : 0 ≤ μ.u := μ.u_nonneg
  have N0 : 0 ≤ N := cast_nonneg n
  have N2 : 0 ≤ N + 1 + 1 := add_nonneg (add_nonneg N0 zero_le_one) zero_le_one
  have size : ∀ i, i < n → Abs (α i) (β i + (θ * β i + ξ)) := fun i hi => abs_of (abs_add (abs_self (hβ i hi)) (ha i hi)) (ring (α i :: β i :: []))
  have seen : ∀ i, i < n → Abs (y i) W := fun i hi => abs_of (abs_add (hv i hi) (hy i hi)) (ring (y i :: v i :: []))
  have shares : sum n (fun i => (β i + (θ * β i + ξ)) * W) = (1 + x) * W :=
    calc sum n (fun i => (β i + (θ * β i + ξ)) * W) = sum n (fun i => β i + (θ * β i + ξ)) * W := sum_mul_right n W _
      _ = (sum n β + (sum n (fun i => θ * β i) + sum n (fun _ => ξ))) * W := mul_congr ((sum_add n β _).trans (add_congr rfl (sum_add n _ _))) rfl
      _ = (1 + (θ * 1 + ξ * N)) * W := mul_congr (add_congr total (add_congr ((sum_mul_left n θ β).trans (mul_congr rfl total)) (sum_const n ξ))) rfl
      _ = (1 + (θ + ξ * N)) * W := mul_congr (add_congr rfl (add_congr (mul_one θ) rfl)) rfl
  -- the two factors together
  have q : Quarter ((N + 1 + 1) * μ.u) := μ.quarter' (le_trans k (le_of zero_le_one (ring (μ.D :: []))))
  have sumN : (N + 1 + 1) * μ.u + (N + 1 + 1 + 1) * μ.u = ((1 + 1) * N + cast 5) * μ.u :=
    show (N + 1 + 1) * μ.u + (N + 1 + 1 + 1) * μ.u = ((1 + 1) * N + (((((0 + 1) + 1) + 1) + 1) + 1)) * μ.u from ring (N :: μ.u :: [])
  have room : (1 + 1) * N + cast 5 ≤ (1 + 1) * μ.D + 1 :=
    le_of (mul_nonneg (le_of_lt two_pos) (sub_nonneg k)) (show ((1 + 1) * μ.D + 1) - ((1 + 1) * N + (((((0 + 1) + 1) + 1) + 1) + 1)) = (1 + 1) * (μ.D - (N + 1 + 1)) from
      ring (N :: μ.D :: []))
  have q5 : Quarter ((N + 1 + 1) * μ.u + (N + 1 + 1 + 1) * μ.u) := (μ.quarter room).le (le_of_eq sumN)
  have compose : (1 + p) * (1 + θ) ≤ 1 + gz :=
    le_trans (gamma_compose (mul_nonneg N2 u0) (mul_nonneg (add_nonneg N2 zero_le_one) u0) q5.lt)
      (add_le_add_left (le_trans (le_of_eq (congrArg γ sumN)) hg) 1)
  have small : (1 + p) * (ξ * N) ≤ cast 14 * N * ζ :=
    have Nζ : 0 ≤ N * ζ := mul_nonneg N0 μ.ζ_nonneg
    have ten : 0 ≤ ((1 + 1) * ((1 + 1) * (1 + 1) + 1)) * ((1 - (1 + 1 + 1) * p) * (N * ζ)) + (1 + 1) * (N * ζ) :=
      add_nonneg (mul_nonneg (mul_nonneg (le_of_lt two_pos) (add_nonneg (mul_nonneg (le_of_lt two_pos) (le_of_lt two_pos)) zero_le_one)) (mul_nonneg (sub_nonneg q.third) Nζ))
        (mul_nonneg (le_of_lt two_pos) Nζ)
    le_of_mul_le_mul (add_pos two_pos zero_le_one) (le_of ten
      (calc (1 + 1 + 1) * (cast 14 * N * ζ) - (1 + 1 + 1) * ((1 + p) * (cast 10 * ζ * N))
            = (1 + 1 + 1) * ((1 + 1) * ((1 + 1) * (1 + 1 + 1) + 1) * N * ζ) - (1 + 1 + 1) * ((1 + p) * ((1 + 1) * ((1 + 1) * (1 + 1) + 1) * ζ * N)) :=
              sub_congr (mul_congr rfl (mul_congr (mul_congr cast_fourteen rfl) rfl)) (mul_congr rfl (mul_congr rfl (mul_congr (mul_congr cast_ten rfl) rfl)))
        _ = ((1 + 1) * ((1 + 1) * (1 + 1) + 1)) * ((1 - (1 + 1 + 1) * p) * (N * ζ)) + (1 + 1) * (N * ζ) := ring (N :: ζ :: p :: [])))
  have most : g + ((1 + p) * (1 + θ) - 1 + (1 + p) * (ξ * N)) * W + ζ ≤ e :=
    le_trans (add_le_add_right (add_le_add_left (mul_le_mul_right
      (add_le_add (le_trans (add_le_add_right compose _) (le_of_eq (ring (gz :: []) : (1 + gz) - 1 = gz))) small) V0) g) ζ) he
  have p0 : 0 ≤ p := gamma_nonneg (mul_nonneg N2 u0) q.lt
  have x0 : 0 ≤ x := add_nonneg (gamma_nonneg (mul_nonneg (add_nonneg N2 zero_le_one) u0) (μ.quarter' (k := N + 1 + 1 + 1) (add_le_add_right k 1)).lt)
    (mul_nonneg (mul_nonneg (cast_nonneg 10) μ.ζ_nonneg) N0)
  have room : (1 + 1) * ((1 + x) * W + 0) ≤ μ.M := le_trans (mul_le_mul_left (le_trans
    (le_of (add_nonneg (mul_nonneg (mul_nonneg p0 (add_nonneg zero_le_one x0)) V0) μ.ζ_nonneg) (ring (p :: θ :: ξ :: N :: V :: g :: ζ :: []) :
      (V + (g + ((1 + p) * (1 + θ) - 1 + (1 + p) * (ξ * N)) * (V + g) + ζ)) - ((1 + (θ + ξ * N)) * (V + g) + 0) = p * (1 + (θ + ξ * N)) * (V + g) + ζ))
    (add_le_add_left most V)) (le_of_lt two_pos)) large
  have products := Rule.float_error.products μ hz k size seen (abs_zero (le_refl 0)) hM (le_trans (le_of_eq (mul_congr rfl (add_congr shares rfl))) room)
  have dot : Abs (z - sum n (fun i => α i * y i)) (p * ((1 + x) * W) + ζ) :=
    abs_le (abs_of products.left (sub_congr rfl (add_zero _).symm))
      (le_of_eq (add_congr (mul_congr rfl ((add_zero _).trans shares)) rfl))
  ⟨abs_le (Rule.float_error.values n β α v y θ ξ V g z _ total hβ ha hy hv dot) (le_trans (le_of_eq
      (ring (p :: θ :: ξ :: N :: V :: g :: ζ :: []) : (p * ((1 + (θ + ξ * N)) * (V + g)) + ζ) + ((θ + ξ * N) * V + (1 + (θ + ξ * N)) * g)
        = g + ((1 + p) * (1 + θ) - 1 + (1 + p) * (ξ * N)) * (V + g) + ζ)) most), products.right⟩

/-! ## The program -/

/-- The results of one evaluation, for the positions `i = 0, ..., n`. -/
structure Program (F : Type) where
  /-- embeddings: position, column -/
  x : Nat → Nat → F
  /-- the query -/
  q : Nat → F
  /-- keys: position, column -/
  k : Nat → Nat → F
  /-- values: position, column -/
  v : Nat → Nat → F
  /-- dot products of the query with the keys -/
  p : Nat → F
  /-- scores -/
  s : Nat → F
  /-- the largest score -/
  m : F
  /-- exponents -/
  a : Nat → F
  /-- exponentials -/
  e : Nat → F
  /-- their sum -/
  T : F
  /-- attention -/
  α : Nat → F
  /-- the average of the values -/
  z : Nat → F
  /-- what attention adds to the stream -/
  o : Nat → F
  /-- the stream -/
  r : Nat → F
  /-- the logits -/
  y : Nat → F

/-- What is assumed of the evaluation: each result comes from the ones before by operations of the machine. Of an operation on a number above
`M` nothing is assumed: it may overflow. -/
structure Program.Runs (P : Program F) (μ : Machine F) (M : Model F) (n O : Nat) (t : Nat → Nat) : Prop where
  embed : ∀ i, i < Nat.succ n → ∀ l, l < M.dModel → Abs (M.E (t i) l) μ.M → Abs (M.P i l) μ.M → Once μ.u μ.ζ (P.x i l) (M.residual i (t i) l)
  query : ∀ h, h < M.dHead → Dot μ M.dModel (P.x n) (fun l => M.WQ l h) (M.bQ h) (P.q h)
  key : ∀ i, i < Nat.succ n → ∀ h, h < M.dHead → Dot μ M.dModel (P.x i) (fun l => M.WK l h) (M.bK h) (P.k i h)
  value : ∀ i, i < Nat.succ n → ∀ h, h < M.dHead → Dot μ M.dModel (P.x i) (fun l => M.WV l h) (M.bV h) (P.v i h)
  product : ∀ i, i < Nat.succ n → Dot μ M.dHead P.q (P.k i) 0 (P.p i)
  /-- division by the square root: the constant is rounded twice, a reciprocal once, the product once -/
  score : ∀ i, i < Nat.succ n → Abs (P.p i) μ.M → Within ((1 + 1) * (1 + 1) * μ.u) μ.ζ (P.s i) (M.scale * P.p i)
  /-- one of the scores is subtracted; it minus itself is zero -/
  top : Exists fun j => j < Nat.succ n ∧ P.m = P.s j ∧ P.a j = 0
  /-- it is the largest, so that no exponent is positive -/
  exponent : ∀ i, i < Nat.succ n → Abs (P.s i) μ.M → Abs P.m μ.M → Once μ.u μ.ζ (P.a i) (P.s i - P.m) ∧ P.a i ≤ 0
  /-- `E` units in the last place are at most `2 E u` of the value -/
  exponential : ∀ i, i < Nat.succ n → Within ((1 + 1) * μ.E * μ.u) ((1 + 1) * (μ.E * μ.ν)) (P.e i) (exp (P.a i))
  not_negative : ∀ i, i < Nat.succ n → 0 ≤ P.e i
  total : Summed μ (Nat.succ n) P.e P.T
  /-- division by the total, also by way of a rounded reciprocal -/
  share : ∀ i, i < Nat.succ n → Abs (P.e i) μ.M → Abs P.T μ.M → 1 ≤ (1 + 1) * P.T → Within ((1 + 1) * μ.u) μ.ζ (P.α i) (P.e i / P.T)
  head : ∀ h, h < M.dHead → Dot μ (Nat.succ n) P.α (fun i => P.v i h) 0 (P.z h)
  out : ∀ l, l < M.dModel → Dot μ M.dHead P.z (fun h => M.WO h l) (M.bO l) (P.o l)
  stream : ∀ l, l < M.dModel → Abs (P.x n l) μ.M → Abs (P.o l) μ.M → Once μ.u μ.ζ (P.r l) (P.x n l + P.o l)
  logit : ∀ o, o < O → Dot μ M.dModel P.r (fun l => M.U l o) (M.bU o) (P.y o)

/-! ## What the checker computes -/

/-- The numbers of FORMAT.md, section 5.7. `t_` and `q_` go with tokens and with the query, `w` with the absolute values of weights. -/
structure Numbers (F : Type) where
  γ_d3 : F
  γ_d2 : F
  γ_h2 : F
  γ_4 : F
  γ_E : F
  γ_n : F
  wQ : Nat → Nat → F
  wK : Nat → Nat → F
  wV : Nat → Nat → F
  wO : Nat → Nat → F
  wU : Nat → Nat → F
  wOU : Nat → Nat → F
  wbQ : Nat → F
  wbK : Nat → F
  wbV : Nat → F
  wbO : Nat → F
  wbU : Nat → F
  /-- `max_i |W_E[t] + W_pos[i]|` -/
  t_x : Nat → Nat → F
  t_X : Nat → Nat → F
  q_x : Nat → F
  q_X : Nat → F
  Q : Nat → F
  K : Nat → F
  V : Nat → F
  δq : Nat → F
  δk : Nat → F
  δv : Nat → F
  η : F
  σ : F
  Δ' : F
  ρ : F
  Δ : F
  /-- the smaller of `Δ/2` and 1 -/
  τ : F
  /-- the ends of the columns of EVOU and PVOU -/
  loE : Nat → F
  hiE : Nat → F
  loP : Nat → F
  hiP : Nat → F
  R : Nat → F
  δz : Nat → F
  out : Nat → F
  δo : Nat → F
  S : Nat → F
  S' : Nat → F
  δS : Nat → F
  /-- what errors of the values add to a logit: step 5 -/
  carried : F
  /-- what everything after the average adds: step 6 -/
  rounded : F
  ε : F

/-- The inequalities that the checker keeps, for one query `q` and all inputs whose tokens are among `tok`. Computed values are the left sides,
rounded up. -/
structure Numbers.Covers (A : Numbers F) (μ : Machine F) (M : Model F) (n O : Nat) (tok : Nat → Prop) (q : Nat) : Prop where
  scale : 0 ≤ M.scale
  -- D = max(d_model, d_head, n_ctx) + 2
  D_model : cast M.dModel + 1 + 1 ≤ μ.D
  D_head : cast M.dHead + 1 + 1 ≤ μ.D
  D_ctx : cast (Nat.succ n) + 1 + 1 ≤ μ.D
  -- γ
  γ_d3 : γ ((cast M.dModel + 1 + 1 + 1) * μ.u) ≤ A.γ_d3
  γ_d2 : γ ((cast M.dModel + 1 + 1) * μ.u) ≤ A.γ_d2
  γ_h2 : γ ((cast M.dHead + 1 + 1) * μ.u) ≤ A.γ_h2
  γ_4 : γ ((1 + 1) * (1 + 1) * μ.u) ≤ A.γ_4
  γ_E : γ ((1 + 1) * μ.E * μ.u) ≤ A.γ_E
  γ_n : γ (((1 + 1) * cast (Nat.succ n) + cast 5) * μ.u) ≤ A.γ_n
  -- absolute values
  wQ : ∀ l h, l < M.dModel → h < M.dHead → Abs (M.WQ l h) (A.wQ l h)
  wK : ∀ l h, l < M.dModel → h < M.dHead → Abs (M.WK l h) (A.wK l h)
  wV : ∀ l h, l < M.dModel → h < M.dHead → Abs (M.WV l h) (A.wV l h)
  wO : ∀ h l, h < M.dHead → l < M.dModel → Abs (M.WO h l) (A.wO h l)
  wU : ∀ l o, l < M.dModel → o < O → Abs (M.U l o) (A.wU l o)
  wOU : ∀ h o, h < M.dHead → o < O → Abs (vecMul M.dModel (M.WO h) M.U o) (A.wOU h o)
  wbQ : ∀ h, h < M.dHead → Abs (M.bQ h) (A.wbQ h)
  wbK : ∀ h, h < M.dHead → Abs (M.bK h) (A.wbK h)
  wbV : ∀ h, h < M.dHead → Abs (M.bV h) (A.wbV h)
  wbO : ∀ l, l < M.dModel → Abs (M.bO l) (A.wbO l)
  wbU : ∀ o, o < O → Abs (M.bU o) (A.wbU o)
  -- 1. inputs
  t_x : ∀ i t, i < Nat.succ n → tok t → ∀ l, l < M.dModel → Abs (M.residual i t l) (A.t_x t l)
  t_X : ∀ t, tok t → ∀ l, l < M.dModel → A.t_x t l + (A.t_x t l * μ.u + μ.ζ) ≤ A.t_X t l
  q_x : ∀ l, l < M.dModel → Abs (M.residual n q l) (A.q_x l)
  q_X : ∀ l, l < M.dModel → A.q_x l + (A.q_x l * μ.u + μ.ζ) ≤ A.q_X l
  -- 2. query, keys, values
  Q : ∀ h, h < M.dHead → Abs (M.query n q h) (A.Q h)
  K : ∀ i t, i < Nat.succ n → tok t → ∀ h, h < M.dHead → Abs (M.key i t h) (A.K h)
  V : ∀ i t, i < Nat.succ n → tok t → ∀ h, h < M.dHead → Abs (M.value i t h) (A.V h)
  δq : ∀ h, h < M.dHead → A.γ_d3 * (vecMul M.dModel A.q_X A.wQ h + A.wbQ h) + (vecMul M.dModel (fun _ => μ.ζ) A.wQ h + μ.ζ) ≤ A.δq h
  δk : ∀ t, tok t → ∀ h, h < M.dHead → A.γ_d3 * (vecMul M.dModel (A.t_X t) A.wK h + A.wbK h) + (vecMul M.dModel (fun _ => μ.ζ) A.wK h + μ.ζ) ≤ A.δk h
  δv : ∀ t, tok t → ∀ h, h < M.dHead → A.γ_d3 * (vecMul M.dModel (A.t_X t) A.wV h + A.wbV h) + (vecMul M.dModel (fun _ => μ.ζ) A.wV h + μ.ζ) ≤ A.δv h
  -- 3. scores
  η : sum M.dHead (fun h => (A.Q h + A.δq h) * (A.δk h + A.γ_h2 * (A.K h + A.δk h)) + A.δq h * A.K h) + μ.ζ ≤ A.η
  σ : sum M.dHead (fun h => (A.Q h + A.δq h) * (A.K h + A.δk h)) ≤ A.σ
  Δ' : M.scale * (A.η + A.γ_4 * (A.σ + A.η)) + μ.ζ ≤ A.Δ'
  -- 4. attention
  ρ : (1 + 1) * (M.scale * A.σ + A.Δ') ≤ A.ρ
  Δ : A.Δ' + (A.ρ * μ.u + μ.ζ) + A.γ_E ≤ A.Δ
  τ : A.Δ ≤ A.τ + A.τ ∨ 1 ≤ A.τ
  EVOU : ∀ t o, tok t → o < O → A.loE o ≤ (M.circuits n).EVOU t o ∧ (M.circuits n).EVOU t o ≤ A.hiE o
  PVOU : ∀ i o, i < Nat.succ n → o < O → A.loP o ≤ (M.circuits n).PVOU i o ∧ (M.circuits n).PVOU i o ≤ A.hiP o
  R : ∀ o, o < O → (A.hiE o - A.loE o) + (A.hiP o - A.loP o) ≤ A.R o
  -- 5. average
  δz : ∀ h, h < M.dHead → A.δv h + (A.γ_n + cast 14 * cast (Nat.succ n) * μ.ζ) * (A.V h + A.δv h) + μ.ζ ≤ A.δz h
  carried : ∀ o, o < O → sum M.dHead (fun h => A.δz h * A.wOU h o) ≤ A.carried
  -- 6. output
  out : ∀ l, l < M.dModel → vecMul M.dHead (fun h => A.V h + A.δz h) A.wO l + A.wbO l ≤ A.out l
  δo : ∀ l, l < M.dModel → A.γ_h2 * A.out l + μ.ζ ≤ A.δo l
  S : ∀ l, l < M.dModel → A.q_X l + (A.out l + A.δo l) ≤ A.S l
  S' : ∀ l, l < M.dModel → A.S l + (A.S l * μ.u + μ.ζ) ≤ A.S' l
  δS : ∀ l, l < M.dModel → A.δo l + (1 + 1) * (A.S l * μ.u + μ.ζ) ≤ A.δS l
  rounded : ∀ o, o < O → vecMul M.dModel A.δS A.wU o + (A.γ_d2 * (vecMul M.dModel A.S' A.wU o + A.wbU o) + μ.ζ) ≤ A.rounded
  -- the magnitudes (the checker's are at most M / 2, so that `X` and `S'`, rounded once more, are at most M): no operation overflows
  M_E : ∀ t l, tok t → l < M.dModel → Abs (M.E t l) μ.M
  M_P : ∀ i l, i < Nat.succ n → l < M.dModel → Abs (M.P i l) μ.M
  M_WQ : ∀ l h, l < M.dModel → h < M.dHead → Abs (M.WQ l h) μ.M
  M_WK : ∀ l h, l < M.dModel → h < M.dHead → Abs (M.WK l h) μ.M
  M_WV : ∀ l h, l < M.dModel → h < M.dHead → Abs (M.WV l h) μ.M
  M_WO : ∀ h l, h < M.dHead → l < M.dModel → Abs (M.WO h l) μ.M
  M_U : ∀ l o, l < M.dModel → o < O → Abs (M.U l o) μ.M
  M_ctx : (1 + 1) * ((1 + 1) * cast (Nat.succ n)) ≤ μ.M
  M_t_X : ∀ t, tok t → ∀ l, l < M.dModel → A.t_X t l ≤ μ.M
  M_q_X : ∀ l, l < M.dModel → A.q_X l ≤ μ.M
  M_query : ∀ h, h < M.dHead → (1 + 1) * (vecMul M.dModel A.q_X A.wQ h + A.wbQ h) ≤ μ.M
  M_key : ∀ t, tok t → ∀ h, h < M.dHead → (1 + 1) * (vecMul M.dModel (A.t_X t) A.wK h + A.wbK h) ≤ μ.M
  M_value : ∀ t, tok t → ∀ h, h < M.dHead → (1 + 1) * (vecMul M.dModel (A.t_X t) A.wV h + A.wbV h) ≤ μ.M
  M_σ : (1 + 1) * A.σ ≤ μ.M
  M_ρ : A.ρ ≤ μ.M
  M_head : ∀ h, h < M.dHead → (1 + 1) * (A.V h + A.δz h) ≤ μ.M
  M_out : ∀ l, l < M.dModel → (1 + 1) * A.out l ≤ μ.M
  M_S' : ∀ l, l < M.dModel → A.S' l ≤ μ.M
  M_logit : ∀ o, o < O → (1 + 1) * (vecMul M.dModel A.S' A.wU o + A.wbU o) ≤ μ.M
  -- together
  ε : ∀ o, o < O → A.τ * A.R o + A.carried + A.rounded ≤ A.ε

/-! ## The theorem -/

/-- What a position gives to a logit. -/
theorem Model.out_value (M : Model F) (n i x o : Nat) :
    M.out (M.value i x) o = ((M.circuits n).EVOU x o + (M.circuits n).PVOU i o) + M.out M.bV o :=
  calc M.out (M.value i x) o = M.out (fun h => (vecMul M.dModel (M.E x) M.WV h + vecMul M.dModel (M.P i) M.WV h) + M.bV h) o :=
        M.out_congr (fun h _ => add_congr (vecMul_add M.dModel (M.E x) (M.P i) M.WV h) rfl) o
    _ = M.out (fun h => vecMul M.dModel (M.E x) M.WV h + vecMul M.dModel (M.P i) M.WV h) o + M.out M.bV o := M.out_add _ _ o
    _ = ((M.circuits n).EVOU x o + (M.circuits n).PVOU i o) + M.out M.bV o := add_congr (M.out_add _ _ o) rfl

/-- **Rule `float_error`, step 6**: the stream, from the head. -/
theorem Rule.float_error.stream (μ : Machine F) {d : Nat} {z Z w : Nat → F} {W : Nat → F} {x x' a X o r b c O δ S S' e g : F} (k : cast d + 1 + 1 ≤ μ.D)
    (hx : Once μ.u μ.ζ x' x) (ha : Abs x a) (hX : a + (a * μ.u + μ.ζ) ≤ X) (hz : ∀ h, h < d → Abs (z h) (Z h)) (hW : ∀ h, h < d → Abs (W h) (w h)) (hb : Abs b c)
    (ho : Dot μ d z W b o) (hr : Abs x' μ.M → Abs o μ.M → Once μ.u μ.ζ r (x' + o)) (hg : γ ((cast d + 1 + 1) * μ.u) ≤ g)
    (hO : sum d (fun h => Z h * w h) + c ≤ O) (hδ : g * O + μ.ζ ≤ δ)
    (hS : X + (O + δ) ≤ S) (hS' : S + (S * μ.u + μ.ζ) ≤ S') (he : δ + (1 + 1) * (S * μ.u + μ.ζ) ≤ e)
    (hM : ∀ h, h < d → Abs (z h) μ.M ∧ Abs (W h) μ.M) (XM : X ≤ μ.M) (large : (1 + 1) * O ≤ μ.M) :
    Abs (r - (x + (sum d (fun h => z h * W h) + b))) e ∧ Abs r S' :=
  let y := sum d (fun h => z h * W h) + b
  have g0 : 0 ≤ g := le_trans (gamma_nonneg (mul_nonneg (add_nonneg (add_nonneg (cast_nonneg d) zero_le_one) zero_le_one) μ.u_nonneg)
    (μ.quarter' (le_trans k (le_of zero_le_one (ring (μ.D :: []))))).lt) hg
  have exact : Abs y O := abs_le (abs_add (abs_sum d (fun h hh => abs_mul (hz h hh) (hW h hh))) hb) hO
  have size0 : 0 ≤ sum d (fun h => Z h * w h) + c := add_nonneg (sum_nonneg (fun h hh => mul_nonneg (abs_nonneg (hz h hh)) (abs_nonneg (hW h hh)))) (abs_nonneg hb)
  have products := Rule.float_error.products μ ho k hz hW hb hM (le_trans (mul_le_mul_left hO (le_of_lt two_pos)) large)
  have first : Abs (o - y) δ := abs_le products.left
    (le_trans (add_le_add_right (le_trans (mul_le_mul_right hg size0) (mul_le_mul_left hO g0)) μ.ζ) hδ)
  have size : Abs o (O + δ) := abs_of (abs_add exact first) (ring (o :: y :: []))
  have a0 : 0 ≤ a := abs_nonneg ha
  have O0 : 0 ≤ O + δ := abs_nonneg size
  have near : Abs (x' - x) (a * μ.u + μ.ζ) := hx.error ha
  have input : Abs x' X := abs_le (abs_of (abs_add ha near) (ring (x :: x' :: []))) hX
  have whole : Abs (x' + o) S := abs_le (abs_add input size) hS
  have last : Abs (r - (x' + o)) (S * μ.u + μ.ζ) := (hr (abs_le input XM) products.right).error whole
  have aX : a ≤ X := le_trans (le_of (add_nonneg (mul_nonneg a0 μ.u_nonneg) μ.ζ_nonneg) (ring (a :: μ.u :: μ.ζ :: []))) hX
  have aS : a ≤ S := le_trans aX (le_trans (le_of O0 (ring (X :: (O + δ) :: []))) hS)
  have inputs : Abs (x' - x) (S * μ.u + μ.ζ) := abs_le near (add_le_add_right (mul_le_mul_right aS μ.u_nonneg) _)
  ⟨abs_le (abs_of (abs_add last (abs_add inputs first)) (ring (r :: x :: x' :: o :: y :: []) : r - (x + y) = (r - (x' + o)) + ((x' - x) + (o - y))))
    (le_trans (le_of_eq (ring (S * μ.u :: μ.ζ :: δ :: []) : (S * μ.u + μ.ζ) + ((S * μ.u + μ.ζ) + δ) = δ + (1 + 1) * (S * μ.u + μ.ζ))) he),
   abs_le (abs_of (abs_add whole last) (ring (r :: x' :: o :: []) : r = (x' + o) + (r - (x' + o)))) hS'⟩

/-- The exponentials add up to at most half of `M`, if the number of positions is at most a quarter of it: each is at most 4/3 but for underflow. -/
theorem exponentials_small (μ : Machine F) {n : Nat} {w e : Nat → F} (k : cast n + 1 + 1 ≤ μ.D) (hM : (1 + 1) * ((1 + 1) * cast n) ≤ μ.M)
    (he : ∀ i, i < n → Abs (e i - w i) ((1 + 1) * (μ.E * μ.ν))) (hw : ∀ i, i < n → (1 + 1 + 1) * w i ≤ (1 + 1) * (1 + 1)) : (1 + 1) * sum n e ≤ μ.M :=
  have two : (0 : F) ≤ 1 + 1 := le_of_lt two_pos
  have Eν : 0 ≤ μ.E * μ.ν := mul_nonneg μ.E_nonneg μ.ν_nonneg
  -- 8 E ν ≤ 1
  have tiny : (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.E * μ.ν))) ≤ 1 :=
    have DM : 1 ≤ μ.D * μ.M := le_trans (le_of_eq (mul_one 1).symm) (mul_le_mul μ.one_le_D μ.one_le_M zero_le_one μ.M_nonneg)
    have more : (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.E * μ.ν))) ≤ (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.D * μ.E * μ.M * μ.ν))) :=
      mul_le_mul_left (mul_le_mul_left (mul_le_mul_left (le_of (mul_nonneg Eν (sub_nonneg DM)) (ring (μ.D :: μ.E :: μ.M :: μ.ν :: []))) two) two) two
    have ζ1 : μ.ζ ≤ 1 := le_trans
      (le_of (mul_nonneg (add_nonneg (mul_nonneg two (add_nonneg (mul_nonneg two (add_nonneg two zero_le_one)) zero_le_one)) zero_le_one) μ.ζ_nonneg) (ring (μ.ζ :: []) :
      (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * μ.ζ))) - μ.ζ = ((1 + 1) * ((1 + 1) * (1 + 1 + 1) + 1) + 1) * μ.ζ)) μ.ζ_small
    le_trans more (le_trans μ.rest' ζ1)
  have each : ∀ i, i < n → e i ≤ 1 + 1 := fun i hi =>
    le_of_mul_le_mul (add_pos two_pos zero_le_one) (le_of
      (add_nonneg (add_nonneg (mul_nonneg (add_nonneg two zero_le_one) (sub_nonneg (he i hi).left)) (sub_nonneg (hw i hi)))
        (add_nonneg (add_nonneg (sub_nonneg tiny) (mul_nonneg two Eν)) zero_le_one))
      (ring (e i :: w i :: μ.E :: μ.ν :: []) : (1 + 1 + 1) * (1 + 1) - (1 + 1 + 1) * e i
        = ((1 + 1 + 1) * ((1 + 1) * (μ.E * μ.ν) - (e i - w i)) + ((1 + 1) * (1 + 1) - (1 + 1 + 1) * w i))
          + (((1 - (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.E * μ.ν)))) + (1 + 1) * (μ.E * μ.ν)) + 1)))
  calc (1 + 1) * sum n e ≤ (1 + 1) * ((1 + 1) * cast n) := mul_le_mul_left (le_trans (sum_le each) (le_of_eq (sum_const n (1 + 1)))) two
    _ ≤ μ.M := hM

/-- **Rule `float_error`.** A program whose operations are those of the machine `μ`, on an input `t 0, ..., t n` of the tokens `tok` with the query
`t n`; numbers that cover the sizes and errors of its stages: each logit that it computes is within `ε` of the model's, and is no overflow. `archimedes` says that
the field has no infinitely small numbers. -/
theorem Rule.float_error (archimedes : ∀ x c : F, (∀ k, double k * x ≤ c) → x ≤ 0) (μ : Machine F) (M : Model F) (n O : Nat) (tok : Nat → Prop) (t : Nat → Nat)
    (ht : ∀ i, i < Nat.succ n → tok (t i)) (A : Numbers F) (C : A.Covers μ M n O tok (t n)) (P : Program F) (R : P.Runs μ M n O t) (o : Nat) (ho : o < O) :
    Abs (P.y o - M.logit n t o) A.ε ∧ Abs (P.y o) μ.M :=
  let N := Nat.succ n
  have embed : ∀ i, i < N → ∀ l, l < M.dModel → Once μ.u μ.ζ (P.x i l) (M.residual i (t i) l) := fun i hi l hl =>
    R.embed i hi l hl (C.M_E (t i) l (ht i hi) hl) (C.M_P i l hi hl)
  have query : ∀ h, h < M.dHead → Abs (P.q h - M.query n (t n) h) (A.δq h) ∧ Abs (P.q h) μ.M := fun h hh =>
    Rule.float_error.layer μ C.D_model (embed n (lt_succ_self n)) C.q_x C.q_X (fun l hl => C.wQ l h hl hh) (C.wbQ h hh) (R.query h hh) C.γ_d3 (C.δq h hh) C.M_q_X
      (fun l hl => C.M_WQ l h hl hh) (C.M_query h hh)
  have key : ∀ i, i < N → ∀ h, h < M.dHead → Abs (P.k i h - M.key i (t i) h) (A.δk h) ∧ Abs (P.k i h) μ.M := fun i hi h hh =>
    Rule.float_error.layer μ C.D_model (embed i hi) (C.t_x i (t i) hi (ht i hi)) (C.t_X (t i) (ht i hi)) (fun l hl => C.wK l h hl hh) (C.wbK h hh) (R.key i hi h hh) C.γ_d3
      (C.δk (t i) (ht i hi) h hh) (C.M_t_X (t i) (ht i hi)) (fun l hl => C.M_WK l h hl hh) (C.M_key (t i) (ht i hi) h hh)
  have value : ∀ i, i < N → ∀ h, h < M.dHead → Abs (P.v i h - M.value i (t i) h) (A.δv h) ∧ Abs (P.v i h) μ.M := fun i hi h hh =>
    Rule.float_error.layer μ C.D_model (embed i hi) (C.t_x i (t i) hi (ht i hi)) (C.t_X (t i) (ht i hi)) (fun l hl => C.wV l h hl hh) (C.wbV h hh) (R.value i hi h hh) C.γ_d3
      (C.δv (t i) (ht i hi) h hh) (C.M_t_X (t i) (ht i hi)) (fun l hl => C.M_WV l h hl hh) (C.M_value (t i) (ht i hi) h hh)
  have score : ∀ i, i < N → Abs (P.s i - M.score n t i) A.Δ' ∧ Abs (M.score n t i) (M.scale * A.σ) := fun i hi =>
    Rule.float_error.score μ C.D_head C.scale (fun h hh => (query h hh).left) (fun h hh => (key i hi h hh).left) C.Q (C.K i (t i) hi (ht i hi)) (R.product i hi)
      (R.score i hi) C.γ_h2 C.γ_4 C.η C.σ C.Δ'
      (fun h hh => ⟨(query h hh).right, (key i hi h hh).right⟩) C.M_σ
  match Rule.float_error.weights μ n (fun i hi => (score i hi).left) (fun i hi => (score i hi).right) C.ρ R.top R.exponent C.M_ρ C.γ_E C.Δ R.exponential with
  | ⟨w, hw, top⟩ =>
    have w0 : ∀ i, i < N → 0 < w i := fun i hi => (hw i hi).left
    let c := fun i => exp (M.score n t i - P.m)
    let β := softmax n w
    have β0 : ∀ i, i < N → 0 ≤ β i := fun i hi => softmax_nonneg w0 i hi
    have total : sum N β = 1 := softmax_total w0
    have real : ∀ i, i < N → softmax n c i = M.attention n t i := fun i hi =>
      softmax_scale (g := exp (-P.m)) (exp_pos _) (fun i _ => exp_pos _) (fun i _ => (exp_add (M.score n t i) (-P.m)).trans (mul_comm _ _)) i hi
    have Δ0 : 0 ≤ A.Δ :=
      have parts := (score n (lt_succ_self n)).left
      have γE : 0 ≤ A.γ_E := le_trans (gamma_nonneg (mul_nonneg (mul_nonneg (le_of_lt two_pos) μ.E_nonneg) μ.u_nonneg) μ.exps.lt) C.γ_E
      have ρ0 : 0 ≤ A.ρ := le_trans (mul_nonneg (le_of_lt two_pos) (add_nonneg (abs_nonneg (score n (lt_succ_self n)).right) (abs_nonneg parts))) C.ρ
      le_trans (add_nonneg (add_nonneg (abs_nonneg parts) (add_nonneg (mul_nonneg ρ0 μ.u_nonneg) μ.ζ_nonneg)) γE) C.Δ
    have ends : ∀ i, i < N → (A.loE o + A.loP o) + M.out M.bV o ≤ M.out (M.value i (t i)) o ∧ M.out (M.value i (t i)) o ≤ (A.hiE o + A.hiP o) + M.out M.bV o := fun i hi =>
      have e := M.out_value n i (t i) o
      have E := C.EVOU (t i) o (ht i hi) ho
      have P := C.PVOU i o hi ho
      ⟨le_trans (add_le_add_right (add_le_add E.left P.left) _) (le_of_eq e.symm), le_trans (le_of_eq e) (add_le_add_right (add_le_add E.right P.right) _)⟩
    have range : ((A.hiE o + A.hiP o) + M.out M.bV o) - ((A.loE o + A.loP o) + M.out M.bV o) ≤ A.R o :=
      le_trans (le_of_eq (ring (A.hiE o :: A.hiP o :: A.loE o :: A.loP o :: M.out M.bV o :: []))) (C.R o ho)
    have moved : Abs (sum N (fun i => β i * M.out (M.value i (t i)) o) - sum N (fun i => M.attention n t i * M.out (M.value i (t i)) o)) (A.τ * A.R o) :=
      abs_of (Rule.float_error.moved archimedes n (fun i _ => exp_pos _) w0 Δ0 (fun i hi => (hw i hi).right.left) (fun i hi => (hw i hi).right.right.left) ends range C.τ)
        (sub_congr rfl (sum_congr (fun i hi => mul_congr (real i hi).symm rfl)))
    have N1 : (1 : F) ≤ cast N := le_of (cast_nonneg n) (show (cast n + 1) - 1 = cast n from ring (cast n :: []))
    have two : (1 : F) + 1 ≤ μ.M := le_trans (le_of (add_nonneg (mul_nonneg (mul_nonneg (le_of_lt two_pos) (le_of_lt two_pos)) (sub_nonneg N1)) (le_of_lt two_pos)) (ring (cast N :: []) :
      (1 + 1) * ((1 + 1) * cast N) - (1 + 1) = (1 + 1) * (1 + 1) * (cast N - 1) + (1 + 1))) C.M_ctx
    have sizes : (1 + 1) * sum N P.e ≤ μ.M := exponentials_small μ C.D_ctx C.M_ctx (fun i hi => (hw i hi).right.right.right.left) (fun i hi => (hw i hi).right.right.right.right)
    have share : ∀ i, i < N → Abs (P.α i - β i) (γ ((cast N + 1 + 1 + 1) * μ.u) * β i + cast 10 * μ.ζ) ∧ Abs (P.α i) μ.M :=
      Rule.float_error.underflow μ n w P.e P.α P.T C.D_ctx w0 (fun i hi => (hw i hi).right.right.right.left) R.not_negative top sizes two R.total R.share
    have V0 : ∀ h, h < M.dHead → 0 ≤ A.V h ∧ 0 ≤ A.δv h := fun h hh =>
      ⟨abs_nonneg (C.V n (t n) (lt_succ_self n) (ht n (lt_succ_self n)) h hh), abs_nonneg (value n (lt_succ_self n) h hh).left⟩
    have head : ∀ h, h < M.dHead → Abs (P.z h - sum N (fun i => β i * M.value i (t i) h)) (A.δz h) ∧ Abs (P.z h) μ.M := fun h hh =>
      Rule.float_error.head μ N (v := fun i => M.value i (t i) h) (y := fun i => P.v i h) C.D_ctx total β0 (fun i hi => (share i hi).left) (fun i hi => (value i hi h hh).left)
        (fun i hi => C.V i (t i) hi (ht i hi) h hh) (add_nonneg (V0 h hh).left (V0 h hh).right) (R.head h hh) C.γ_n (C.δz h hh)
        (fun i hi => ⟨(share i hi).right, (value i hi h hh).right⟩) (C.M_head h hh)
    have size : ∀ h, h < M.dHead → Abs (P.z h) (A.V h + A.δz h) := fun h hh =>
      have exact : Abs (sum N (fun i => β i * M.value i (t i) h)) (A.V h) :=
        abs_le (abs_sum N (fun i hi => abs_mul (abs_self (β0 i hi)) (C.V i (t i) hi (ht i hi) h hh)))
          (le_of_eq ((sum_mul_right N (A.V h) β).trans ((mul_congr total rfl).trans (one_mul _))))
      abs_of (abs_add exact (head h hh).left) (ring (P.z h :: sum N (fun i => β i * M.value i (t i) h) :: []))
    have stream : ∀ l, l < M.dModel → Abs (P.r l - (M.residual n (t n) l + (vecMul M.dHead P.z M.WO l + M.bO l))) (A.δS l) ∧ Abs (P.r l) (A.S' l) := fun l hl =>
      Rule.float_error.stream μ C.D_head (embed n (lt_succ_self n) l hl) (C.q_x l hl) (C.q_X l hl) size (fun h hh => C.wO h l hh hl) (C.wbO l hl) (R.out l hl) (R.stream l hl)
        C.γ_h2 (C.out l hl) (C.δo l hl) (C.S l hl) (C.S' l hl) (C.δS l hl)
        (fun h hh => ⟨(head h hh).right, C.M_WO h l hh hl⟩) (C.M_q_X l hl) (C.M_out l hl)
    have sizes : ∀ l, l < M.dModel → Abs (P.r l) (A.S' l) := fun l hl => (stream l hl).right
    have weights : ∀ l, l < M.dModel → Abs (M.U l o) (A.wU l o) := fun l hl => C.wU l o hl ho
    have last := Rule.float_error.products μ (R.logit o ho) C.D_model sizes weights (C.wbU o ho)
      (fun l hl => ⟨abs_le (sizes l hl) (C.M_S' l hl), C.M_U l o hl ho⟩) (C.M_logit o ho)
    let B := vecMul M.dModel A.S' A.wU o + A.wbU o
    have B0 : 0 ≤ B := add_nonneg (sum_nonneg (fun l hl => mul_nonneg (abs_nonneg (sizes l hl)) (abs_nonneg (weights l hl)))) (abs_nonneg (C.wbU o ho))
    let g := γ ((cast M.dModel + 1 + 1) * μ.u)
    let thr := vecMul M.dModel A.δS A.wU o
    let five := sum M.dHead (fun h => A.δz h * A.wOU h o)
    ⟨abs_le (Rule.float_error.logit M n t o β P.z A.δz P.r A.δS A.wU (fun h => A.wOU h o) (P.y o) _ _ (fun h hh => (head h hh).left) (fun l hl => (stream l hl).left) last.left weights
        (fun h hh => C.wOU h o hh ho) moved)
      (calc ((g * B + μ.ζ) + thr) + (five + A.τ * A.R o) ≤ ((A.γ_d2 * B + μ.ζ) + thr) + (five + A.τ * A.R o) :=
            add_le_add_right (add_le_add_right (add_le_add_right (mul_le_mul_right C.γ_d2 B0) _) _) _
        _ = A.τ * A.R o + five + (thr + (A.γ_d2 * B + μ.ζ)) := ring (A.γ_d2 * B :: μ.ζ :: thr :: five :: A.τ * A.R o :: [])
        _ ≤ A.τ * A.R o + A.carried + A.rounded := add_le_add (add_le_add_left (C.carried o ho) _) (C.rounded o ho)
        _ ≤ A.ε := C.ε o ho), last.right⟩
end
end CompactProofs
