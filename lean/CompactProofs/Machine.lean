import CompactProofs.Rounding
/-!
# A machine that rounds: what rule `float_error` assumes, and what follows for one operation

`Once`: one operation, rounded once. `Within`: a quotient or an exponential, with several roundings. `Dot`: a sum of products, in any order,
fused or not. `γ_k` is `γ (k * u)`.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-! ## `γ_k` -/

/-- `γ (k * u)` is `γ_k = k u / (1 - k u)`. -/
def γ (a : F) : F := a / (1 - a)

theorem gamma_mul {a : F} (h : a < 1) : γ a * (1 - a) = a := (mul_comm _ _).trans (div_mul (sub_pos h))
theorem gamma_nonneg {a : F} (h0 : 0 ≤ a) (h : a < 1) : 0 ≤ γ a := mul_nonneg h0 (inv_nonneg (sub_pos h))
theorem one_add_gamma {a : F} (h : a < 1) : (1 + γ a) * (1 - a) = 1 :=
  calc (1 + γ a) * (1 - a) = (1 - a) + γ a * (1 - a) := ring (a :: γ a :: [])
    _ = (1 - a) + a := add_congr rfl (gamma_mul h)
    _ = 1 := ring (a :: [])
theorem le_gamma {a : F} (h0 : 0 ≤ a) (h : a < 1) : a ≤ γ a :=
  le_trans (le_of_eq (gamma_mul h).symm) (le_of (mul_nonneg (gamma_nonneg h0 h) h0) (ring (a :: γ a :: [])))
/-- `γ_k + u ≤ γ_{k+1}`. -/
theorem gamma_step {a u : F} (h0 : 0 ≤ a) (hu : 0 ≤ u) (h : a + u < 1) : γ a + u ≤ γ (a + u) :=
  have a1 : a < 1 := lt_of_le_of_lt (le_of hu (ring (a :: u :: []))) h
  le_of_mul_le_mul (sub_pos a1) (le_of (add_nonneg (mul_nonneg (gamma_nonneg (add_nonneg h0 hu) h) hu) (mul_nonneg h0 hu))
    (calc (1 - a) * γ (a + u) - (1 - a) * (γ a + u)
          = (γ (a + u) * (1 - (a + u)) + γ (a + u) * u) - (γ a * (1 - a) + u * (1 - a)) := ring (a :: u :: γ a :: γ (a + u) :: [])
      _ = ((a + u) + γ (a + u) * u) - (a + u * (1 - a)) := sub_congr (add_congr (gamma_mul h) rfl) (add_congr (gamma_mul a1) rfl)
      _ = γ (a + u) * u + a * u := ring (a :: u :: γ (a + u) :: [])))
/-- `(1 + γ_j) (1 + γ_k) ≤ 1 + γ_{j+k}`. -/
theorem gamma_compose {a b : F} (ha : 0 ≤ a) (hb : 0 ≤ b) (h : a + b < 1) : (1 + γ a) * (1 + γ b) ≤ 1 + γ (a + b) :=
  have a1 : a < 1 := lt_of_le_of_lt (le_of hb (ring (a :: b :: []))) h
  have b1 : b < 1 := lt_of_le_of_lt (le_of ha (ring (a :: b :: []))) h
  let p := 1 + γ a
  let q := 1 + γ b
  have pq : 0 ≤ p * q := mul_nonneg (add_nonneg zero_le_one (gamma_nonneg ha a1)) (add_nonneg zero_le_one (gamma_nonneg hb b1))
  le_of_mul_le_mul (sub_pos h)
    (calc (1 - (a + b)) * (p * q) ≤ (p * (1 - a)) * (q * (1 - b)) := le_of (mul_nonneg (mul_nonneg ha hb) pq) (ring (a :: b :: p :: q :: []))
      _ = 1 * 1 := mul_congr (one_add_gamma a1) (one_add_gamma b1)
      _ = 1 := mul_one 1
      _ = (1 - (a + b)) * (1 + γ (a + b)) := (one_add_gamma h).symm.trans (mul_comm _ _))

/-- `4 a ≤ 1`: the condition for every `k u` that is used. -/
def Quarter (a : F) : Prop := (1 + 1) * ((1 + 1) * a) ≤ 1
theorem Quarter.lt {a : F} (h : Quarter a) : a < 1 :=
  have four : (0 : F) < (1 + 1) * (1 + 1) := mul_pos two_pos two_pos
  have gap : 0 < ((1 + 1) * (1 + 1)) * (1 - a) :=
    pos_of (add_pos (add_pos two_pos zero_le_one) (sub_nonneg h)) (ring (a :: []) : ((1 + 1) * (1 + 1)) * (1 - a) = ((1 + 1) + 1) + (1 - (1 + 1) * ((1 + 1) * a)))
  lt_of (pos_of_mul (le_of_lt four) gap) rfl
theorem Quarter.le {a b : F} (h : Quarter b) (k : a ≤ b) : Quarter a :=
  le_trans (mul_le_mul_left (mul_le_mul_left k (le_of_lt two_pos)) (le_of_lt two_pos)) h
/-- `γ ≤ 1/3`. -/
theorem Quarter.third {a : F} (h : Quarter a) : (1 + 1 + 1) * γ a ≤ 1 :=
  le_of_mul_le_mul (sub_pos h.lt)
    (calc (1 - a) * ((1 + 1 + 1) * γ a) = (1 + 1 + 1) * (γ a * (1 - a)) := ring (a :: γ a :: [])
      _ = (1 + 1 + 1) * a := mul_congr rfl (gamma_mul h.lt)
      _ ≤ (1 - a) * 1 := le_of (sub_nonneg h) (ring (a :: [])))
theorem Quarter.gamma_le_one {a : F} (h : Quarter a) (h0 : 0 ≤ a) : γ a ≤ 1 :=
  le_trans (le_of (mul_nonneg (le_of_lt two_pos) (gamma_nonneg h0 h.lt)) (ring (γ a :: []) : (1 + 1 + 1) * γ a - γ a = (1 + 1) * γ a)) h.third

/-! ## The machine -/

/-- What the rule knows of the machine. -/
structure Machine (F : Type) [ExpField F] where
  /-- the unit roundoff -/
  u : F
  /-- what one underflow changes at most -/
  ν : F
  /-- a bound of all magnitudes -/
  M : F
  /-- the largest number of terms, plus 2 -/
  D : F
  /-- the exponential is within so many units in the last place -/
  E : F
  /-- all that underflow adds to one result -/
  ζ : F
  u_nonneg : 0 ≤ u
  ν_nonneg : 0 ≤ ν
  one_le_M : 1 ≤ M
  one_le_D : 1 ≤ D
  one_le_E : 1 ≤ E
  /-- `ζ ≥ 8 D E M ν` -/
  rest : cast 8 * (D * E * M * ν) ≤ ζ
  /-- `ζ ≤ 1/16` -/
  small : cast 16 * ζ ≤ 1
  /-- `4 (2 D + 1) u ≤ 1` -/
  sums : Quarter (((1 + 1) * D + 1) * u)
  /-- `4 (2 E) u ≤ 1` -/
  exps : Quarter ((1 + 1) * E * u)

theorem cast_eight : (cast 8 : F) = (1 + 1) * ((1 + 1) * (1 + 1)) :=
  show ((((((((0 + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1 : F) = (1 + 1) * ((1 + 1) * (1 + 1)) from ring []
theorem cast_sixteen : (cast 16 : F) = (1 + 1) * ((1 + 1) * ((1 + 1) * (1 + 1))) :=
  show ((((((((((((((((0 + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1 : F) = (1 + 1) * ((1 + 1) * ((1 + 1) * (1 + 1))) from ring []

theorem Machine.rest' (μ : Machine F) : (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.D * μ.E * μ.M * μ.ν))) ≤ μ.ζ :=
  le_trans (le_of_eq (calc (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.D * μ.E * μ.M * μ.ν)))
      = ((1 + 1) * ((1 + 1) * (1 + 1))) * (μ.D * μ.E * μ.M * μ.ν) := ring (μ.D :: μ.E :: μ.M :: μ.ν :: [])
    _ = cast 8 * (μ.D * μ.E * μ.M * μ.ν) := mul_congr cast_eight.symm rfl)) μ.rest
theorem Machine.D_nonneg (μ : Machine F) : 0 ≤ μ.D := le_trans zero_le_one μ.one_le_D
theorem Machine.M_nonneg (μ : Machine F) : 0 ≤ μ.M := le_trans zero_le_one μ.one_le_M
theorem Machine.E_nonneg (μ : Machine F) : 0 ≤ μ.E := le_trans zero_le_one μ.one_le_E
theorem Machine.ζ_nonneg (μ : Machine F) : 0 ≤ μ.ζ :=
  have two : (0 : F) ≤ 1 + 1 := le_of_lt two_pos
  le_trans (mul_nonneg two (mul_nonneg two (mul_nonneg two (mul_nonneg (mul_nonneg (mul_nonneg μ.D_nonneg μ.E_nonneg) μ.M_nonneg) μ.ν_nonneg)))) μ.rest'
theorem Machine.quarter (μ : Machine F) {k : F} (h : k ≤ (1 + 1) * μ.D + 1) : Quarter (k * μ.u) := μ.sums.le (mul_le_mul_right h μ.u_nonneg)
theorem Machine.quarter' (μ : Machine F) {k : F} (h : k ≤ μ.D + 1) : Quarter (k * μ.u) :=
  μ.quarter (le_trans h (le_of μ.D_nonneg (ring (μ.D :: []))))
theorem Machine.u_le_one (μ : Machine F) : μ.u ≤ 1 :=
  le_of_lt (lt_of_le_of_lt (le_of_eq (one_mul μ.u).symm) (μ.quarter' (k := 1) (le_of μ.D_nonneg (ring (μ.D :: [])))).lt)

/-! ## One operation -/

/-- `r` is `x`, rounded once; `z` is for underflow. -/
def Once (u z r x : F) : Prop := Exists fun d => Abs d u ∧ Abs (r - x * (1 + d)) z
/-- `r` is `x`, but for roundings that are worth `a` together; `z` is for underflow. -/
def Within (a z r x : F) : Prop := Exists fun f => Factor a f ∧ Abs (r - x * f) z

theorem Once.error {u z r x X : F} (h : Once u z r x) (hx : Abs x X) : Abs (r - x) (X * u + z) := match h with
  | ⟨d, hd, hz⟩ => abs_of (abs_add (abs_mul hx hd) hz) (ring (r :: x :: d :: []))
theorem Within.error {a z r x X : F} (h : Within a z r x) (ha : 0 ≤ a) (k : a < 1) (hx : Abs x X) : Abs (r - x) (X * γ a + z) := match h with
  | ⟨f, hf, hz⟩ => abs_of (abs_add (abs_mul hx (Rule.float_error.gamma hf ha k (gamma_mul k))) hz) (ring (r :: x :: f :: []))

/-! ## Sums in any order -/

/-- An order of summation, and what each operation does to its result: `term j` is term number `j` (a product, or the bias), `round` a rounding
on its own, as from a wider format to the format at the end. Operations have a factor `f` and a rest `h`. -/
inductive Order (F : Type) where
  | term (j : Nat) (f h : F)
  | node (l r : Order F) (f h : F)
  | round (t : Order F) (f h : F)

/-- What the machine gets for the terms `x`. -/
def Order.result (x : Nat → F) : Order F → F
  | .term j f h => x j * f + h
  | .node l r f h => (l.result x + r.result x) * f + h
  | .round t f h => t.result x * f + h
/-- The sum of the terms that are visited. -/
def Order.total (x : Nat → F) : Order F → F
  | .term j _ _ => x j
  | .node l r _ _ => l.total x + r.total x
  | .round t _ _ => t.total x
/-- The number of terms and of roundings on their own: no term takes part in more roundings. -/
def Order.steps : Order F → F
  | .term _ _ _ => 1
  | .node l r _ _ => l.steps + r.steps
  | .round t _ _ => t.steps + 1
/-- The terms have numbers below `n`, the factors are those that `u` allows, the rests of terms are at most `p`, all others at most `q`. -/
def Order.Valid (n : Nat) (u p q : F) : Order F → Prop
  | .term j f h => j < n ∧ Factor u f ∧ Abs h p
  | .node l r f h => (Factor u f ∧ Abs h q) ∧ (l.Valid n u p q ∧ r.Valid n u p q)
  | .round t f h => (Factor u f ∧ Abs h q) ∧ t.Valid n u p q
/-- The sum of the rests. -/
def Order.rest (p q : F) : Order F → F
  | .term _ _ _ => p
  | .node l r _ _ => (l.rest p q + r.rest p q) + q
  | .round t _ _ => t.rest p q + q
/-- The same as an `Addition`. -/
def Order.tree (x a : Nat → F) (p q : F) : Order F → Addition F
  | .term j f h => .leaf (x j) (a j) f h p
  | .node l r f h => .node (l.tree x a p q) (r.tree x a p q) f h q
  | .round t f h => .node (t.tree x a p q) (.leaf 0 0 1 0 0) f h q

theorem Order.tree_value (x a : Nat → F) (p q : F) : (o : Order F) → (o.tree x a p q).value = o.result x
  | .term _ _ _ => rfl
  | .node l r f h => add_congr (mul_congr (add_congr (l.tree_value x a p q) (r.tree_value x a p q)) rfl) rfl
  | .round t f h => add_congr (mul_congr ((add_congr (t.tree_value x a p q) (show (0 : F) * 1 + 0 = 0 from ring [])).trans (add_zero _)) rfl) rfl
theorem Order.tree_exact (x a : Nat → F) (p q : F) : (o : Order F) → (o.tree x a p q).exact = o.total x
  | .term _ _ _ => rfl
  | .node l r f h => add_congr (l.tree_exact x a p q) (r.tree_exact x a p q)
  | .round t f h => (add_congr (t.tree_exact x a p q) rfl).trans (add_zero _)
theorem Order.tree_size (x a : Nat → F) (p q : F) : (o : Order F) → (o.tree x a p q).size = o.total a
  | .term _ _ _ => rfl
  | .node l r f h => add_congr (l.tree_size x a p q) (r.tree_size x a p q)
  | .round t f h => (add_congr (t.tree_size x a p q) rfl).trans (add_zero _)
theorem Order.tree_terms (x a : Nat → F) (p q : F) : (o : Order F) → (o.tree x a p q).terms = o.steps
  | .term _ _ _ => rfl
  | .node l r f h => add_congr (l.tree_terms x a p q) (r.tree_terms x a p q)
  | .round t f h => add_congr (t.tree_terms x a p q) rfl
theorem Order.tree_rest (x a : Nat → F) (p q : F) : (o : Order F) → (o.tree x a p q).rest = o.rest p q
  | .term _ _ _ => rfl
  | .node l r f h => add_congr (add_congr (l.tree_rest x a p q) (r.tree_rest x a p q)) rfl
  | .round t f h => add_congr ((add_congr (t.tree_rest x a p q) rfl).trans (add_zero _)) rfl
theorem Order.tree_valid {n : Nat} {u p q : F} (x a : Nat → F) (hu : 0 ≤ u) (h : ∀ j, j < n → Abs (x j) (a j)) :
    (o : Order F) → o.Valid n u p q → (o.tree x a p q).Valid u
  | .term _ _ _, v => ⟨v.right, h _ v.left⟩
  | .node l r _ _, v => ⟨v.left, l.tree_valid x a hu h v.right.left, r.tree_valid x a hu h v.right.right⟩
  | .round t _ _, v => ⟨v.left, t.tree_valid x a hu h v.right, ⟨⟨factor_one hu, abs_zero (le_refl 0)⟩, abs_zero (le_refl 0)⟩⟩
theorem Order.steps_pos : (o : Order F) → 1 ≤ o.steps
  | .term _ _ _ => le_refl 1
  | .node l r _ _ => le_trans l.steps_pos (le_of (le_trans zero_le_one r.steps_pos) (show (l.steps + r.steps) - l.steps = r.steps from ring (l.steps :: r.steps :: [])))
  | .round t _ _ => le_trans t.steps_pos (le_of zero_le_one (show (t.steps + 1) - t.steps = 1 from ring (t.steps :: [])))
theorem Order.rest_bound {p q : F} (hp : 0 ≤ p) : (o : Order F) → o.rest p q + q ≤ o.steps * (p + q)
  | .term _ _ _ => le_of_eq (one_mul (p + q)).symm
  | .node l r _ _ => le_trans (le_of_eq (show ((l.rest p q + r.rest p q) + q) + q = (l.rest p q + q) + (r.rest p q + q) from ring (l.rest p q :: r.rest p q :: q :: [])))
      (le_trans (add_le_add (l.rest_bound hp) (r.rest_bound hp)) (le_of_eq (add_mul l.steps r.steps (p + q)).symm))
  | .round t _ _ => le_of (add_nonneg (sub_nonneg (t.rest_bound hp)) hp)
      (show (t.steps + 1) * (p + q) - ((t.rest p q + q) + q) = (t.steps * (p + q) - (t.rest p q + q)) + p from ring (t.steps :: t.rest p q :: p :: q :: []))
theorem Order.total_nonneg {n : Nat} {u p q : F} (x : Nat → F) (h : ∀ j, j < n → 0 ≤ x j) : (o : Order F) → o.Valid n u p q → 0 ≤ o.total x
  | .term _ _ _, v => h _ v.left
  | .node l r _ _, v => add_nonneg (l.total_nonneg x h v.right.left) (r.total_nonneg x h v.right.right)
  | .round t _ _, v => t.total_nonneg x h v.right
theorem Order.rest_nonneg {p q : F} (hp : 0 ≤ p) (hq : 0 ≤ q) : (o : Order F) → 0 ≤ o.rest p q
  | .term _ _ _ => hp
  | .node l r _ _ => add_nonneg (add_nonneg (l.rest_nonneg hp hq) (r.rest_nonneg hp hq)) hq
  | .round t _ _ => add_nonneg (t.rest_nonneg hp hq) hq

/-- One operation on a sum of nonnegative terms, from below. -/
theorem lower_step {u a b G f Z z D E h : F} (hu : 0 ≤ u) (hb : 0 ≤ b) (b1 : b ≤ 1) (hab : b + u ≤ a) (hG : 1 ≤ G) (hf : Factor u f) (u1 : u ≤ 1) (hE : 0 ≤ E)
    (hZ : 0 ≤ Z) (hD : (1 - b) * E ≤ D + G * (1 - u) * Z) (hh : Abs h z) : (1 - a) * E ≤ (D * f + h) + G * (Z + z) :=
  have f0 : 0 ≤ f := le_trans (sub_nonneg u1) hf.left
  have G0 : 0 ≤ G := le_trans zero_le_one hG
  have GZ : 0 ≤ G * Z := mul_nonneg G0 hZ
  calc (1 - a) * E ≤ (1 - b) * E * (1 - u) :=
        le_of (mul_nonneg hE (add_nonneg (sub_nonneg hab) (mul_nonneg hb hu))) (ring (u :: a :: b :: E :: []) : (1 - b) * E * (1 - u) - (1 - a) * E = E * ((a - (b + u)) + b * u))
    _ ≤ (1 - b) * E * f := mul_le_mul_left hf.left (mul_nonneg (sub_nonneg b1) hE)
    _ ≤ (D + G * (1 - u) * Z) * f := mul_le_mul_right hD f0
    _ = D * f + G * Z * (f * (1 - u)) := ring (D :: G :: u :: Z :: f :: [])
    _ ≤ D * f + G * Z := le_of (mul_nonneg GZ (sub_nonneg hf.right)) (ring (D :: f :: G :: Z :: u :: []) :
        (D * f + G * Z) - (D * f + G * Z * (f * (1 - u))) = G * Z * (1 - f * (1 - u)))
    _ ≤ (D * f + h) + G * (Z + z) := le_of (add_nonneg (sub_nonneg hh.right) (mul_nonneg (sub_nonneg hG) (abs_nonneg hh)))
        (ring (D :: f :: G :: Z :: z :: h :: []) : ((D * f + h) + G * (Z + z)) - (D * f + G * Z) = (z - -h) + (G - 1) * z)

/-- **Rule `float_error`, sums of nonnegative terms, from below**: here the factor is `1 - N u`, not only `1 - γ_N`. -/
theorem Rule.float_error.lower {n : Nat} {u p q : F} (hu : 0 ≤ u) (u1 : u ≤ 1) (hp : 0 ≤ p) (hq : 0 ≤ q) (x : Nat → F) (hx : ∀ j, j < n → 0 ≤ x j) :
    (o : Order F) → (G : F) → 0 ≤ G → 1 ≤ G * (1 - o.steps * u) → o.steps * u ≤ 1 → o.Valid n u p q →
      (1 - o.steps * u) * o.total x ≤ o.result x + G * o.rest p q
  | .term j f h, G, hG, k, s1, v =>
    have x0 : 0 ≤ x j := hx j v.left
    have one : 1 ≤ G := le_trans k (le_of (mul_nonneg hG (mul_nonneg zero_le_one hu)) (show G - G * (1 - 1 * u) = G * (1 * u) from ring (G :: u :: [])))
    have r := lower_step (D := x j) (a := 1 * u) (b := 0) (Z := 0) hu (le_refl 0) zero_le_one (le_of_eq (ring (u :: []))) one v.right.left u1 x0 (le_refl 0)
      (le_of_eq (ring (x j :: G :: u :: []))) v.right.right
    le_trans r (le_of_eq (show (x j * f + h) + G * (0 + p) = (x j * f + h) + G * p from ring (x j :: f :: h :: G :: p :: [])))
  | .node l r f h, G, hG, k, s1, v =>
    have k0 : 1 ≤ G * (1 - (l.steps + r.steps) * u) := k
    have s0 : (l.steps + r.steps) * u ≤ 1 := s1
    have lu : 0 ≤ l.steps * u := mul_nonneg (le_trans zero_le_one l.steps_pos) hu
    have ru : 0 ≤ r.steps * u := mul_nonneg (le_trans zero_le_one r.steps_pos) hu
    have l1 : 0 ≤ (l.steps - 1) * u := mul_nonneg (sub_nonneg l.steps_pos) hu
    have r1 : 0 ≤ (r.steps - 1) * u := mul_nonneg (sub_nonneg r.steps_pos) hu
    have small : 0 ≤ G * (1 - u) := mul_nonneg hG (sub_nonneg u1)
    have kl : 1 ≤ G * (1 - u) * (1 - l.steps * u) := le_trans k0
      (le_of (mul_nonneg hG (add_nonneg r1 (mul_nonneg hu lu))) (ring (G :: l.steps :: r.steps :: u :: [])))
    have kr : 1 ≤ G * (1 - u) * (1 - r.steps * u) := le_trans k0
      (le_of (mul_nonneg hG (add_nonneg l1 (mul_nonneg hu ru))) (ring (G :: l.steps :: r.steps :: u :: [])))
    have sl : l.steps * u ≤ 1 := le_trans (le_of ru (ring (l.steps :: r.steps :: u :: []))) s0
    have sr : r.steps * u ≤ 1 := le_trans (le_of lu (ring (l.steps :: r.steps :: u :: []))) s0
    have left := Rule.float_error.lower hu u1 hp hq x hx l (G * (1 - u)) small kl sl v.right.left
    have right := Rule.float_error.lower hu u1 hp hq x hx r (G * (1 - u)) small kr sr v.right.right
    have xl : 0 ≤ l.total x := l.total_nonneg x hx v.right.left
    have xr : 0 ≤ r.total x := r.total_nonneg x hx v.right.right
    let b := (l.steps + r.steps) * u - u
    have b0 : 0 ≤ b := nonneg_of (add_nonneg l1 ru) (ring (l.steps :: r.steps :: u :: []) : (l.steps + r.steps) * u - u = (l.steps - 1) * u + r.steps * u)
    have b1 : b ≤ 1 := le_trans (le_of hu (ring (l.steps :: r.steps :: u :: []) : (l.steps + r.steps) * u - ((l.steps + r.steps) * u - u) = u)) s0
    have one : 1 ≤ G := le_trans k0 (le_of (mul_nonneg hG (add_nonneg lu ru)) (ring (G :: l.steps :: r.steps :: u :: []) :
      G - G * (1 - (l.steps + r.steps) * u) = G * (l.steps * u + r.steps * u)))
    have D : (1 - b) * (l.total x + r.total x) ≤ (l.result x + r.result x) + G * (1 - u) * (l.rest p q + r.rest p q) :=
      calc (1 - b) * (l.total x + r.total x) ≤ (1 - l.steps * u) * l.total x + (1 - r.steps * u) * r.total x :=
            le_of (add_nonneg (mul_nonneg r1 xl) (mul_nonneg l1 xr)) (ring (l.steps :: r.steps :: l.total x :: r.total x :: u :: []) :
              ((1 - l.steps * u) * l.total x + (1 - r.steps * u) * r.total x) - (1 - ((l.steps + r.steps) * u - u)) * (l.total x + r.total x)
                = (r.steps - 1) * u * l.total x + (l.steps - 1) * u * r.total x)
        _ ≤ (l.result x + G * (1 - u) * l.rest p q) + (r.result x + G * (1 - u) * r.rest p q) := add_le_add left right
        _ = (l.result x + r.result x) + G * (1 - u) * (l.rest p q + r.rest p q) :=
            ring (l.result x :: r.result x :: l.rest p q :: r.rest p q :: u :: G :: [])
    lower_step hu b0 b1 (le_of_eq (ring (l.steps :: r.steps :: u :: []) : ((l.steps + r.steps) * u - u) + u = (l.steps + r.steps) * u)) one v.left.left u1
      (add_nonneg xl xr) (add_nonneg (l.rest_nonneg hp hq) (r.rest_nonneg hp hq)) D v.left.right
  | .round t f h, G, hG, k, s1, v =>
    have k0 : 1 ≤ G * (1 - (t.steps + 1) * u) := k
    have tu : 0 ≤ t.steps * u := mul_nonneg (le_trans zero_le_one t.steps_pos) hu
    have kt : 1 ≤ G * (1 - u) * (1 - t.steps * u) := le_trans k0 (le_of (mul_nonneg hG (mul_nonneg hu tu)) (ring (G :: t.steps :: u :: [])))
    have st : t.steps * u ≤ 1 := le_trans (le_of hu (show (t.steps + 1) * u - t.steps * u = u from ring (t.steps :: u :: []))) s1
    have one : 1 ≤ G := le_trans k0 (le_of (mul_nonneg hG (add_nonneg tu hu)) (ring (G :: t.steps :: u :: []) : G - G * (1 - (t.steps + 1) * u) = G * (t.steps * u + u)))
    lower_step hu tu st (le_of_eq (show t.steps * u + u = (t.steps + 1) * u from ring (t.steps :: u :: []))) one v.left.left u1
      (t.total_nonneg x hx v.right) (t.rest_nonneg hp hq)
      (Rule.float_error.lower hu u1 hp hq x hx t (G * (1 - u)) (mul_nonneg hG (sub_nonneg u1)) kt st v.right) v.left.right

/-- What is assumed of a sum: an operation on numbers of at most `M` has a factor that `u` allows and a rest. -/
def Order.Guarded (n : Nat) (u M p q : F) (x : Nat → F) : Order F → Prop
  | .term j f h => j < n ∧ (Abs (x j) M → Factor u f ∧ Abs h p)
  | .node l r f h => (Abs (l.result x) M → Abs (r.result x) M → Factor u f ∧ Abs h q) ∧ (l.Guarded n u M p q x ∧ r.Guarded n u M p q x)
  | .round t f h => (Abs (t.result x) M → Factor u f ∧ Abs h q) ∧ t.Guarded n u M p q x
theorem Order.size_nonneg {n : Nat} {u M p q : F} {x : Nat → F} (a : Nat → F) (h : ∀ j, j < n → 0 ≤ a j) : (o : Order F) → o.Guarded n u M p q x → 0 ≤ o.total a
  | .term _ _ _, v => h _ v.left
  | .node l r _ _, v => add_nonneg (l.size_nonneg a h v.right.left) (r.size_nonneg a h v.right.right)
  | .round t _ _, v => t.size_nonneg a h v.right

/-- `r` is a sum of `n` terms, each taken once, in some order, with at most `n` roundings for each term, and one more at the end. A term is
off by at most `2 M ν` and an operation by at most `2 ν` because of underflow, as long as no number exceeds `M`. -/
def Summed (μ : Machine F) (n : Nat) (x : Nat → F) (r : F) : Prop := Exists fun o : Order F =>
  o.Guarded n μ.u μ.M ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν) x ∧ (∀ g : Nat → F, o.total g = sum n g) ∧ o.steps ≤ cast n + 1 ∧ o.result x = r

/-- What underflow adds to a sum. -/
theorem Machine.room (μ : Machine F) {k G : F} (hk : k ≤ μ.D) (hG : G ≤ 1 + 1) (G0 : 0 ≤ G) (o : Order F) (h : o.steps ≤ k) :
    G * o.rest ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν) ≤ μ.ζ :=
  let p := (1 + 1) * (μ.M * μ.ν)
  let q := (1 + 1) * μ.ν
  have two : (0 : F) ≤ 1 + 1 := le_of_lt two_pos
  have p0 : 0 ≤ p := mul_nonneg two (mul_nonneg μ.M_nonneg μ.ν_nonneg)
  have q0 : 0 ≤ q := mul_nonneg two μ.ν_nonneg
  have most : o.rest p q ≤ μ.D * (p + q) :=
    calc o.rest p q ≤ o.rest p q + q := le_of q0 (ring (o.rest p q :: q :: []))
      _ ≤ o.steps * (p + q) := o.rest_bound p0
      _ ≤ μ.D * (p + q) := mul_le_mul_right (le_trans h hk) (add_nonneg p0 q0)
  have whole : (1 + 1) * (μ.D * ((1 + 1) * (μ.M * μ.ν) + (1 + 1) * μ.ν)) ≤ (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.D * μ.E * μ.M * μ.ν))) :=
    have Dν : 0 ≤ μ.D * μ.ν := mul_nonneg μ.D_nonneg μ.ν_nonneg
    have one : 0 ≤ (1 + 1) * ((1 + 1) * ((1 + 1) * (μ.D * μ.ν * μ.M * (μ.E - 1)))) :=
      mul_nonneg two (mul_nonneg two (mul_nonneg two (mul_nonneg (mul_nonneg Dν μ.M_nonneg) (sub_nonneg μ.one_le_E))))
    le_of (add_nonneg one (mul_nonneg two (mul_nonneg two (mul_nonneg Dν (sub_nonneg μ.one_le_M))))) (ring (μ.D :: μ.M :: μ.ν :: μ.E :: []))
  le_trans (mul_le_mul hG most G0 (mul_nonneg μ.D_nonneg (add_nonneg p0 q0))) (le_trans whole μ.rest')

theorem one_le_of_steps {a s u : F} (h : a < 1) (k : s * u ≤ a) (h0 : 0 ≤ a) : 1 ≤ (1 + γ a) * (1 - s * u) :=
  le_trans (le_of_eq (one_add_gamma h).symm)
    (mul_le_mul_left (le_of (sub_nonneg k) (ring (a :: s * u :: []))) (add_nonneg zero_le_one (gamma_nonneg h0 h)))

/-- **Rule `float_error`, the lemma on sums in any order**, for one order. -/
theorem Rule.float_error.order (μ : Machine F) {n : Nat} {k : F} {x a : Nat → F} (o : Order F) (v : o.Valid n μ.u ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν))
    (s : o.steps ≤ k) (kD : k ≤ μ.D) (hx : ∀ j, j < n → Abs (x j) (a j)) : Abs (o.result x - o.total x) (γ (k * μ.u) * o.total a + μ.ζ) :=
  let g := γ (k * μ.u)
  let p := (1 + 1) * (μ.M * μ.ν)
  let q := (1 + 1) * μ.ν
  have quarter : Quarter (k * μ.u) := μ.quarter' (le_trans kD (le_of zero_le_one (ring (μ.D :: []))))
  have a0 : 0 ≤ k * μ.u := mul_nonneg (le_trans (le_trans zero_le_one o.steps_pos) s) μ.u_nonneg
  have G0 : 0 ≤ 1 + g := add_nonneg zero_le_one (gamma_nonneg a0 quarter.lt)
  have steps : (o.tree x a p q).terms * μ.u ≤ k * μ.u := mul_le_mul_right (le_trans (le_of_eq (o.tree_terms x a p q)) s) μ.u_nonneg
  have dot := Rule.float_error.dot μ.u μ.u_nonneg (o.tree x a p q) (1 + g) G0 (one_le_of_steps quarter.lt steps a0) μ.u_le_one (o.tree_valid x a μ.u_nonneg hx v)
  have rest : (1 + g) * (o.tree x a p q).rest ≤ μ.ζ := le_trans (le_of_eq (mul_congr rfl (o.tree_rest x a p q)))
    (μ.room kD (add_le_add_left (quarter.gamma_le_one a0) 1) G0 o s)
  abs_le (abs_of dot (sub_congr (o.tree_value x a p q).symm (o.tree_exact x a p q).symm))
    (add_le_add (le_of_eq (mul_congr (ring (g :: []) : (1 + g) - 1 = g) (o.tree_size x a p q))) rest)

theorem Machine.ζ_small (μ : Machine F) : (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * μ.ζ))) ≤ 1 :=
  le_trans (le_of_eq ((ring (μ.ζ :: []) : (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * μ.ζ))) = ((1 + 1) * ((1 + 1) * ((1 + 1) * (1 + 1)))) * μ.ζ).trans
    (mul_congr cast_sixteen.symm rfl))) μ.small

/-- A sum of terms whose absolute values add up to at most `M / 2` does not exceed `M`. -/
theorem Order.bounded (μ : Machine F) {n : Nat} {k : F} {x a : Nat → F} (o : Order F) (v : o.Valid n μ.u ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν))
    (s : o.steps ≤ k) (kD : k ≤ μ.D) (hx : ∀ j, j < n → Abs (x j) (a j)) (size : (1 + 1) * o.total a ≤ μ.M) : Abs (o.result x) μ.M :=
  let g := γ (k * μ.u)
  let A := o.total a
  have quarter : Quarter (k * μ.u) := μ.quarter' (le_trans kD (le_of zero_le_one (ring (μ.D :: []))))
  have exact : Abs (o.total x) A := abs_of (abs_le ((o.tree x a ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν)).size_bound μ.u (o.tree_valid x a μ.u_nonneg hx v))
    (le_of_eq (o.tree_size x a _ _))) (o.tree_exact x a _ _).symm
  have A0 : 0 ≤ A := abs_nonneg exact
  have whole : Abs (o.result x) (A + (g * A + μ.ζ)) := abs_of (abs_add exact (Rule.float_error.order μ o v s kD hx)) (ring (o.result x :: o.total x :: []))
  have three : (1 + 1 + 1) * μ.ζ ≤ μ.M := le_trans (le_trans
    (le_of (mul_nonneg (add_nonneg (mul_nonneg (mul_nonneg (le_of_lt two_pos) (le_of_lt two_pos)) (add_nonneg (le_of_lt two_pos) zero_le_one)) zero_le_one) μ.ζ_nonneg)
    (ring (μ.ζ :: []) : (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * μ.ζ))) - (1 + 1 + 1) * μ.ζ = ((1 + 1) * (1 + 1) * (1 + 1 + 1) + 1) * μ.ζ)) μ.ζ_small) μ.one_le_M
  abs_le whole (le_of_mul_le_mul (add_pos two_pos zero_le_one)
    (le_of (add_nonneg (add_nonneg (mul_nonneg A0 (sub_nonneg quarter.third)) (mul_nonneg (le_of_lt two_pos) (sub_nonneg size))) (sub_nonneg three)) (ring (A :: g :: μ.ζ :: μ.M :: []) :
      (1 + 1 + 1) * μ.M - (1 + 1 + 1) * (A + (g * A + μ.ζ)) = (A * (1 - (1 + 1 + 1) * g) + (1 + 1) * (μ.M - (1 + 1) * A)) + (μ.M - (1 + 1 + 1) * μ.ζ))))

/-- Then no partial sum exceeds `M` either: what is assumed of operations on numbers of at most `M` holds for all of them. -/
theorem Order.valid (μ : Machine F) {n : Nat} {k : F} {x a : Nat → F} (kD : k ≤ μ.D) (hx : ∀ j, j < n → Abs (x j) (a j)) : (o : Order F) →
    o.Guarded n μ.u μ.M ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν) x → o.steps ≤ k → (1 + 1) * o.total a ≤ μ.M → o.Valid n μ.u ((1 + 1) * (μ.M * μ.ν)) ((1 + 1) * μ.ν)
  | .term j f h, g, _, size =>
    have a0 : 0 ≤ a j := abs_nonneg (hx j g.left)
    ⟨g.left, g.right (abs_le (hx j g.left) (le_trans (le_of a0 (ring (a j :: []) : (1 + 1) * a j - a j = a j)) size))⟩
  | .node l r f h, g, s, size =>
    have a0 : ∀ j, j < n → 0 ≤ a j := fun j hj => abs_nonneg (hx j hj)
    have L0 : 0 ≤ l.total a := l.size_nonneg a a0 g.right.left
    have R0 : 0 ≤ r.total a := r.size_nonneg a a0 g.right.right
    have sl : l.steps ≤ k := le_trans (le_of (le_trans zero_le_one r.steps_pos) (show (l.steps + r.steps) - l.steps = r.steps from ring (l.steps :: r.steps :: []))) s
    have sr : r.steps ≤ k := le_trans (le_of (le_trans zero_le_one l.steps_pos) (show (l.steps + r.steps) - r.steps = l.steps from ring (l.steps :: r.steps :: []))) s
    have zl : (1 + 1) * l.total a ≤ μ.M :=
      le_trans (mul_le_mul_left (le_of R0 (ring (l.total a :: r.total a :: []) : (l.total a + r.total a) - l.total a = r.total a)) (le_of_lt two_pos)) size
    have zr : (1 + 1) * r.total a ≤ μ.M :=
      le_trans (mul_le_mul_left (le_of L0 (ring (l.total a :: r.total a :: []) : (l.total a + r.total a) - r.total a = l.total a)) (le_of_lt two_pos)) size
    have vl := Order.valid μ kD hx l g.right.left sl zl
    have vr := Order.valid μ kD hx r g.right.right sr zr
    ⟨g.left (l.bounded μ vl sl kD hx zl) (r.bounded μ vr sr kD hx zr), vl, vr⟩
  | .round t f h, g, s, size =>
    have st : t.steps ≤ k := le_trans (le_of zero_le_one (show (t.steps + 1) - t.steps = 1 from ring (t.steps :: []))) s
    have vt := Order.valid μ kD hx t g.right st size
    ⟨g.left (t.bounded μ vt st kD hx size), vt⟩

/-- **Rule `float_error`, the lemma on sums in any order**, with underflow; nothing exceeds `M`. -/
theorem Rule.float_error.sums (μ : Machine F) {n : Nat} {x a : Nat → F} {r : F} (h : Summed μ n x r) (k : cast n + 1 ≤ μ.D) (hx : ∀ j, j < n → Abs (x j) (a j))
    (size : (1 + 1) * sum n a ≤ μ.M) : Abs (r - sum n x) (γ ((cast n + 1) * μ.u) * sum n a + μ.ζ) ∧ Abs r μ.M := match h with
  | ⟨o, guarded, all, s, e⟩ =>
    have total : (1 + 1) * o.total a ≤ μ.M := le_trans (le_of_eq (mul_congr rfl (all a))) size
    have v := Order.valid μ k hx o guarded s total
    ⟨abs_le (abs_of (Rule.float_error.order μ o v s k hx) (sub_congr e.symm (all x).symm)) (le_of_eq (add_congr (mul_congr rfl (all a)) rfl)),
     abs_of (o.bounded μ v s k hx total) e.symm⟩

/-- The same from below, for terms that are not negative. -/
theorem Rule.float_error.sums_lower (μ : Machine F) {n : Nat} {x : Nat → F} {r : F} (h : Summed μ n x r) (k : cast n + 1 ≤ μ.D) (hx : ∀ j, j < n → 0 ≤ x j)
    (size : (1 + 1) * sum n x ≤ μ.M) : (1 - (cast n + 1) * μ.u) * sum n x ≤ r + μ.ζ := match h with
  | ⟨o, guarded, all, s, e⟩ =>
    have v := Order.valid μ k (fun j hj => abs_self (hx j hj)) o guarded s (le_trans (le_of_eq (mul_congr rfl (all x))) size)
    let g := γ ((cast n + 1) * μ.u)
    let p := (1 + 1) * (μ.M * μ.ν)
    let q := (1 + 1) * μ.ν
    have two : (0 : F) ≤ 1 + 1 := le_of_lt two_pos
    have p0 : 0 ≤ p := mul_nonneg two (mul_nonneg μ.M_nonneg μ.ν_nonneg)
    have q0 : 0 ≤ q := mul_nonneg two μ.ν_nonneg
    have quarter : Quarter ((cast n + 1) * μ.u) := μ.quarter' (le_trans k (le_of zero_le_one (ring (μ.D :: []))))
    have a0 : 0 ≤ (cast n + 1) * μ.u := mul_nonneg (add_nonneg (cast_nonneg n) zero_le_one) μ.u_nonneg
    have g0 : 0 ≤ g := gamma_nonneg a0 quarter.lt
    have G0 : 0 ≤ 1 + g := add_nonneg zero_le_one g0
    have steps : o.steps * μ.u ≤ (cast n + 1) * μ.u := mul_le_mul_right s μ.u_nonneg
    have low := Rule.float_error.lower μ.u_nonneg μ.u_le_one p0 q0 x hx o (1 + g) G0 (one_le_of_steps quarter.lt steps a0) (le_trans steps (le_of_lt quarter.lt)) v
    calc (1 - (cast n + 1) * μ.u) * sum n x ≤ (1 - o.steps * μ.u) * sum n x :=
          mul_le_mul_right (le_of (sub_nonneg steps) (ring (o.steps * μ.u :: (cast n + 1) * μ.u :: []))) (sum_nonneg hx)
      _ = (1 - o.steps * μ.u) * o.total x := mul_congr rfl (all x).symm
      _ ≤ o.result x + (1 + g) * o.rest p q := low
      _ ≤ r + μ.ζ := add_le_add (le_of_eq e) (μ.room k (add_le_add_left (quarter.gamma_le_one a0) 1) G0 o s)

/-- `c`, and then the numbers `p`. -/
def cons (c : F) (p : Nat → F) : Nat → F
  | .zero => c
  | .succ j => p j
theorem sum_cons (c : F) (p : Nat → F) : (n : Nat) → sum (Nat.succ n) (cons c p) = sum n p + c
  | .zero => rfl
  | .succ n => (add_congr (sum_cons c p n) rfl).trans (show (sum n p + c) + p n = (sum n p + p n) + c from ring (sum n p :: c :: p n :: []))
theorem lt_of_succ_lt_succ {i n : Nat} (h : Nat.succ i < Nat.succ n) : i < n := le_of_succ_le_succ h

/-- `r` is the dot product of `n` numbers `x` with numbers `y`, with the bias `c`, as the machine computes it, if these are at most
`M` (so that underflow of a factor is a rest of at most `2 M ν`). -/
def Dot (μ : Machine F) (n : Nat) (x y : Nat → F) (c r : F) : Prop := (∀ j, j < n → Abs (x j) μ.M ∧ Abs (y j) μ.M) → Summed μ (Nat.succ n) (cons c (fun j => x j * y j)) r

/-- **Rule `float_error`, the lemma on dot products**, as FORMAT.md states it. -/
theorem Rule.float_error.products (μ : Machine F) {n : Nat} {x y a b : Nat → F} {c d r : F} (h : Dot μ n x y c r) (k : cast n + 1 + 1 ≤ μ.D)
    (hx : ∀ j, j < n → Abs (x j) (a j)) (hy : ∀ j, j < n → Abs (y j) (b j)) (hc : Abs c d)
    (small : ∀ j, j < n → Abs (x j) μ.M ∧ Abs (y j) μ.M) (size : (1 + 1) * (sum n (fun j => a j * b j) + d) ≤ μ.M) :
    Abs (r - (sum n (fun j => x j * y j) + c)) (γ ((cast n + 1 + 1) * μ.u) * (sum n (fun j => a j * b j) + d) + μ.ζ) ∧ Abs r μ.M :=
  have terms : ∀ j, j < Nat.succ n → Abs (cons c (fun j => x j * y j) j) (cons d (fun j => a j * b j) j) := fun j => match j with
    | .zero => fun _ => hc
    | .succ j => fun hj => abs_mul (hx j (lt_of_succ_lt_succ hj)) (hy j (lt_of_succ_lt_succ hj))
  have whole := Rule.float_error.sums μ (h small) k terms (le_trans (le_of_eq (mul_congr rfl (sum_cons d (fun j => a j * b j) n))) size)
  ⟨abs_le (abs_of whole.left (sub_congr rfl (sum_cons c (fun j => x j * y j) n).symm))
    (le_of_eq (add_congr (mul_congr rfl (sum_cons d (fun j => a j * b j) n)) rfl)), whole.right⟩

/-! ## Attention -/

/-- A share, from a sum `S` of exact exponentials `S β`, where the program has the sum `T` and the exponential `S β + x`. -/
theorem share_step {a b g f S T k κ β x : F} (ha : 0 ≤ a) (a1 : a ≤ 1) (hb : 0 ≤ b) (hg : 1 ≤ (1 + g) * (1 - (a + b))) (g0 : a + b ≤ g) (g1 : g ≤ 1)
    (hf : Factor b f) (b1 : b ≤ 1) (hS : 0 ≤ S) (hβ : 0 ≤ β) (hβ1 : β ≤ 1) (hT : 1 ≤ (1 + 1) * T) (low : (1 - a) * S - k ≤ T) (high : T * (1 - a) ≤ S + k) (hk : 0 ≤ k)
    (hx : Abs x κ) (a2 : 0 < 1 - a) : T * (β - (g * β + (1 + 1) * ((1 + g) * (k + κ)))) ≤ (S * β + x) * f ∧ (S * β + x) * f ≤ T * (β + (g * β + (1 + 1) * ((1 + g) * (k + κ)))) :=
  have f0 : 0 ≤ f := le_trans (sub_nonneg b1) hf.left
  have gg : 0 ≤ g := le_trans (add_nonneg ha hb) g0
  have G0 : 0 ≤ 1 + g := add_nonneg zero_le_one gg
  have κ0 : 0 ≤ κ := abs_nonneg hx
  have Sβ : 0 ≤ S * β := mul_nonneg hS hβ
  let K := (1 + g) * (k + κ)
  have K0 : 0 ≤ K := mul_nonneg G0 (add_nonneg hk κ0)
  -- the factor, between `(1 - g) / (1 - a)` and `(1 - a) (1 + g)`
  have F1 : f ≤ (1 - a) * (1 + g) :=
    calc f ≤ f * ((1 + g) * (1 - (a + b))) := le_trans (le_of_eq (mul_one f).symm) (mul_le_mul_left hg f0)
      _ ≤ f * ((1 + g) * ((1 - a) * (1 - b))) := mul_le_mul_left (mul_le_mul_left (le_of (mul_nonneg ha hb) (ring (a :: b :: []))) G0) f0
      _ = (f * (1 - b)) * ((1 - a) * (1 + g)) := ring (f :: g :: a :: b :: [])
      _ ≤ 1 * ((1 - a) * (1 + g)) := mul_le_mul_right hf.right (mul_nonneg (sub_nonneg a1) G0)
      _ = (1 - a) * (1 + g) := one_mul _
  have F2 : f ≤ 1 + g := le_trans F1 (le_of (mul_nonneg ha G0) (ring (a :: g :: [])))
  have F3 : 1 - g ≤ (1 - a) * f :=
    calc 1 - g ≤ (1 - a) * (1 - b) := le_of (add_nonneg (sub_nonneg g0) (mul_nonneg ha hb)) (ring (a :: b :: g :: []))
      _ ≤ (1 - a) * f := mul_le_mul_left hf.left (sub_nonneg a1)
  have twice : K ≤ T * ((1 + 1) * K) := le_of (mul_nonneg K0 (sub_nonneg hT)) (ring (K :: T :: []))
  have xf : Abs (x * f) (κ * (1 + g)) := abs_mul hx ⟨F2, le_trans (le_of f0 (ring (f :: []) : 0 - -f = f)) G0⟩
  have kβ : k * β ≤ k := le_trans (mul_le_mul_left hβ1 hk) (le_of_eq (mul_one k))
  have upper : (S * β) * f ≤ T * (β * (1 + g)) + (1 + g) * k :=
    calc (S * β) * f ≤ (S * β) * ((1 - a) * (1 + g)) := mul_le_mul_left F1 Sβ
      _ = ((1 - a) * S - k) * (β * (1 + g)) + (1 + g) * (k * β) := ring (S :: β :: a :: g :: k :: [])
      _ ≤ T * (β * (1 + g)) + (1 + g) * k := add_le_add (mul_le_mul_right low (mul_nonneg hβ G0)) (mul_le_mul_left kβ G0)
  have lower : T * (β * (1 - g)) ≤ (S * β) * f + (1 + g) * k := le_of_mul_le_mul a2
    (calc (1 - a) * (T * (β * (1 - g))) = (T * (1 - a)) * (β * (1 - g)) := ring (a :: T :: β :: g :: [])
      _ ≤ (S + k) * (β * (1 - g)) := mul_le_mul_right high (mul_nonneg hβ (sub_nonneg g1))
      _ = (S * β) * (1 - g) + (k * β) * (1 - g) := ring (S :: k :: β :: g :: [])
      _ ≤ (S * β) * ((1 - a) * f) + k * ((1 - a) * f) :=
          add_le_add (mul_le_mul_left F3 Sβ) (le_trans (mul_le_mul_right kβ (sub_nonneg g1)) (mul_le_mul_left F3 hk))
      _ = (1 - a) * ((S * β) * f + f * k) := ring (S :: β :: a :: f :: k :: [])
      _ ≤ (1 - a) * ((S * β) * f + (1 + g) * k) := mul_le_mul_left (add_le_add_left (mul_le_mul_right F2 hk) _) (sub_nonneg a1))
  ⟨calc T * (β - (g * β + (1 + 1) * K)) = T * (β * (1 - g)) - T * ((1 + 1) * K) := ring (T :: β :: g :: K :: [])
      _ ≤ ((S * β) * f + (1 + g) * k) - K := add_le_add lower (neg_le_neg twice)
      _ = (S * β) * f - κ * (1 + g) := (ring (S :: β :: f :: g :: k :: κ :: []) : ((S * β) * f + (1 + g) * k) - (1 + g) * (k + κ) = (S * β) * f - κ * (1 + g))
      _ ≤ (S * β) * f + x * f := le_of (sub_nonneg xf.right) (ring (S * β * f :: κ * (1 + g) :: x * f :: []))
      _ = (S * β + x) * f := (add_mul _ _ _).symm,
   calc (S * β + x) * f = (S * β) * f + x * f := add_mul _ _ _
      _ ≤ (T * (β * (1 + g)) + (1 + g) * k) + κ * (1 + g) := add_le_add upper xf.left
      _ = T * (β * (1 + g)) + K := (ring (T :: β :: g :: k :: κ :: []) : (T * (β * (1 + g)) + (1 + g) * k) + κ * (1 + g) = T * (β * (1 + g)) + (1 + g) * (k + κ))
      _ ≤ T * (β * (1 + g)) + T * ((1 + 1) * K) := add_le_add_left twice _
      _ = T * (β + (g * β + (1 + 1) * K)) := ring (T :: β :: g :: K :: [])⟩

theorem cast_ten : (cast 10 : F) = (1 + 1) * ((1 + 1) * (1 + 1) + 1) :=
  show ((((((((((0 + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1) + 1 : F) = (1 + 1) * ((1 + 1) * (1 + 1) + 1) from ring []

/-- **Rule `float_error`, shares with underflow.** `w`: exponentials but for underflow, the largest at least 3/4; `e`: those of the program;
`T`: their sum, `α`: the shares, as it computes them. These are the shares of `w`, up to a part `γ_{n+3}` of themselves and `10 ζ`. -/
theorem Rule.float_error.underflow (μ : Machine F) (n : Nat) (w e α : Nat → F) (T : F) (k : cast (Nat.succ n) + 1 + 1 ≤ μ.D)
    (hw : ∀ i, i < Nat.succ n → 0 < w i) (he : ∀ i, i < Nat.succ n → Abs (e i - w i) ((1 + 1) * (μ.E * μ.ν))) (e0 : ∀ i, i < Nat.succ n → 0 ≤ e i)
    (top : Exists fun j => j < Nat.succ n ∧ 1 + 1 + 1 ≤ (1 + 1) * ((1 + 1) * w j)) (size : (1 + 1) * sum (Nat.succ n) e ≤ μ.M) (hM : 1 + 1 ≤ μ.M)
    (hT : Summed μ (Nat.succ n) e T) (hα : ∀ i, i < Nat.succ n → Abs (e i) μ.M → Abs T μ.M → 1 ≤ (1 + 1) * T → Within ((1 + 1) * μ.u) μ.ζ (α i) (e i / T))
    (i : Nat) (hi : i < Nat.succ n) :
    Abs (α i - softmax n w i) (γ ((cast (Nat.succ n) + 1 + 1 + 1) * μ.u) * softmax n w i + cast 10 * μ.ζ) ∧ Abs (α i) μ.M :=
  let N : F := cast (Nat.succ n)
  let S := sum (Nat.succ n) w
  let R := sum (Nat.succ n) e
  let κ := (1 + 1) * (μ.E * μ.ν)
  let a := (N + 1) * μ.u
  let b := (1 + 1) * μ.u
  let β := softmax n w i
  let ζ := μ.ζ
  let k2 := ζ + ζ
  have two : (0 : F) ≤ 1 + 1 := le_of_lt two_pos
  have u0 : 0 ≤ μ.u := μ.u_nonneg
  have ζ0 : 0 ≤ ζ := μ.ζ_nonneg
  have N0 : 0 ≤ N := cast_nonneg (Nat.succ n)
  have N1 : 1 ≤ N := le_of (cast_nonneg n) (show (cast n + 1) - 1 = cast n from ring (cast n :: []))
  have S0 : 0 < S := sum_pos hw
  have κ0 : 0 ≤ κ := mul_nonneg two (mul_nonneg μ.E_nonneg μ.ν_nonneg)
  have kD : N + 1 ≤ μ.D := le_trans (le_of zero_le_one (ring (N :: []) : (N + 1 + 1) - (N + 1) = 1)) k
  have ND : N ≤ μ.D := le_trans (le_of zero_le_one (ring (N :: []) : (N + 1) - N = 1)) kD
  -- what underflow changes in the sum
  have κN : κ * N ≤ ζ :=
    have Eν : 0 ≤ μ.E * μ.ν := mul_nonneg μ.E_nonneg μ.ν_nonneg
    have DEν : 0 ≤ μ.D * (μ.E * μ.ν) := mul_nonneg μ.D_nonneg Eν
    have one : (1 + 1) * (μ.E * μ.ν) * N ≤ (1 + 1) * (μ.D * (μ.E * μ.ν)) := le_of (mul_nonneg two (mul_nonneg Eν (sub_nonneg ND))) (ring (μ.E :: μ.ν :: N :: μ.D :: []))
    have more : 0 ≤ (1 + 1) * (μ.D * (μ.E * μ.ν) * (μ.M - 1)) + (1 + 1) * ((1 + 1 + 1) * (μ.D * (μ.E * μ.ν) * μ.M)) :=
      add_nonneg (mul_nonneg two (mul_nonneg DEν (sub_nonneg μ.one_le_M))) (mul_nonneg two (mul_nonneg (add_nonneg two zero_le_one) (mul_nonneg DEν μ.M_nonneg)))
    le_trans one (le_trans (le_of more (ring (μ.D :: μ.E :: μ.M :: μ.ν :: []))) μ.rest')
  have κζ : κ ≤ ζ := le_trans (le_of (mul_nonneg κ0 (sub_nonneg N1)) (ring (κ :: N :: []))) κN
  have gap : Abs (R - S) ζ := abs_le (abs_of (abs_sum (Nat.succ n) he) (sum_sub (Nat.succ n) e w).symm) (le_trans (le_of_eq (sum_const (Nat.succ n) κ)) κN)
  -- the rounding of the sum
  have qa : Quarter a := μ.quarter' (le_trans kD (le_of zero_le_one (ring (μ.D :: []))))
  have a0 : 0 ≤ a := mul_nonneg (add_nonneg N0 zero_le_one) u0
  have a1 : a ≤ 1 := le_of_lt qa.lt
  have a2 : 0 < 1 - a := sub_pos qa.lt
  have whole := Rule.float_error.sums μ hT kD (fun j hj => abs_self (e0 j hj)) size
  have low : (1 - a) * S - k2 ≤ T :=
    have floor : (1 - a) * R ≤ T + ζ := Rule.float_error.sums_lower μ hT kD e0 size
    have moved : (1 - a) * (S - R) ≤ ζ := le_trans (mul_le_mul_left (le_trans (le_of_eq (ring (S :: R :: []))) gap.right) (sub_nonneg a1)) (le_of (mul_nonneg a0 ζ0) (ring (a :: ζ :: [])))
    le_of (add_nonneg (sub_nonneg floor) (sub_nonneg moved)) (ring (a :: S :: R :: T :: ζ :: []) :
      T - ((1 - a) * S - (ζ + ζ)) = (T + ζ - (1 - a) * R) + (ζ - (1 - a) * (S - R)))
  have high : T * (1 - a) ≤ S + k2 :=
    have ceil : T - R ≤ γ a * R + ζ := whole.left.left
    calc T * (1 - a) ≤ ((1 + γ a) * R + ζ) * (1 - a) := mul_le_mul_right (le_of (sub_nonneg ceil) (ring (T :: R :: γ a :: ζ :: []))) (le_of_lt a2)
      _ = ((1 + γ a) * (1 - a)) * R + ζ * (1 - a) := ring (γ a :: R :: ζ :: a :: [])
      _ = 1 * R + ζ * (1 - a) := add_congr (mul_congr (one_add_gamma qa.lt) rfl) rfl
      _ ≤ S + (ζ + ζ) := le_of (add_nonneg (sub_nonneg gap.left) (mul_nonneg ζ0 a0)) (ring (R :: S :: ζ :: a :: []) : (S + (ζ + ζ)) - (1 * R + ζ * (1 - a)) = (ζ - (R - S)) + ζ * a)
  have half : 1 ≤ (1 + 1) * T := match top with
    | ⟨j, hj, t⟩ =>
      have big : 1 + 1 + 1 ≤ (1 + 1) * ((1 + 1) * S) := le_trans t (mul_le_mul_left (mul_le_mul_left (term_le_sum (fun j hj => le_of_lt (hw j hj)) j hj) two) two)
      have eighth : (1 + 1) * ((1 + 1) * ((1 + 1) * a)) ≤ 1 :=
        le_trans (le_of (mul_nonneg two (mul_nonneg two (add_nonneg u0 (mul_nonneg two (mul_nonneg (sub_nonneg kD) u0))))) (ring (μ.D :: N :: μ.u :: []) :
          (1 + 1) * ((1 + 1) * (((1 + 1) * μ.D + 1) * μ.u)) - (1 + 1) * ((1 + 1) * ((1 + 1) * ((N + 1) * μ.u)))
            = (1 + 1) * ((1 + 1) * (μ.u + (1 + 1) * ((μ.D - (N + 1)) * μ.u))))) μ.sums
      have tiny : (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * ζ))) ≤ 1 := μ.ζ_small
      have s1 : (1 + 1 + 1) * (1 - a) ≤ (1 + 1) * ((1 + 1) * ((1 - a) * S)) :=
        le_trans (mul_le_mul_right big (le_of_lt a2)) (le_of_eq (ring (S :: a :: [])))
      have five : (1 + 1) * (1 + 1) + 1 ≤ (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 - a) * S))) :=
        le_of (add_nonneg (add_nonneg (mul_nonneg two (sub_nonneg s1)) (sub_nonneg eighth)) (mul_nonneg two a0)) (ring (a :: S :: []) :
          (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 - a) * S))) - ((1 + 1) * (1 + 1) + 1)
            = ((1 + 1) * ((1 + 1) * ((1 + 1) * ((1 - a) * S)) - (1 + 1 + 1) * (1 - a)) + (1 - (1 + 1) * ((1 + 1) * ((1 + 1) * a)))) + (1 + 1) * a)
      let X := (1 - a) * S
      le_of_mul_le_mul (mul_pos two_pos two_pos) (le_of
        (add_nonneg (add_nonneg (mul_nonneg (mul_nonneg two (mul_nonneg two two)) (sub_nonneg low)) (sub_nonneg five)) (sub_nonneg tiny)) (ring (X :: T :: ζ :: []) :
          (1 + 1) * (1 + 1) * ((1 + 1) * T) - (1 + 1) * (1 + 1) * 1
            = ((1 + 1) * ((1 + 1) * (1 + 1)) * (T - (X - (ζ + ζ))) + ((1 + 1) * ((1 + 1) * ((1 + 1) * X)) - ((1 + 1) * (1 + 1) + 1))) + (1 - (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * ζ))))))
  -- the quotient
  have qg : Quarter (a + b) := (μ.quarter' (k := N + 1 + 1 + 1) (add_le_add_right k 1)).le (le_of_eq (ring (N :: μ.u :: [])))
  have b0 : 0 ≤ b := mul_nonneg two u0
  have b1 : b ≤ 1 := le_trans (le_of a0 (ring (a :: b :: []))) (le_of_lt qg.lt)
  let g := γ (a + b)
  have g0 : a + b ≤ g := le_gamma (add_nonneg a0 b0) qg.lt
  have β0 : 0 ≤ β := softmax_nonneg hw i hi
  have β1 : β ≤ 1 := le_trans (term_le_sum (fun j hj => softmax_nonneg hw j hj) i hi) (le_of_eq (softmax_total hw))
  have T0 : 0 < T := pos_of_mul two (lt_of_lt_of_le zero_lt_one half)
  have Sβ : S * β = w i := div_mul S0
  have top : Abs (e i) μ.M := abs_le (abs_self (e0 i hi)) (le_trans (term_le_sum e0 i hi)
    (le_trans (le_of (sum_nonneg e0) (ring (R :: []) : (1 + 1) * R - R = R)) size))
  match hα i hi top whole.right half with
  | ⟨f, hf, hz⟩ =>
    have step := share_step (x := e i - w i) a0 a1 b0 (le_of_eq (one_add_gamma qg.lt).symm) g0 (qg.gamma_le_one (add_nonneg a0 b0)) hf b1 (le_of_lt S0) β0 β1 half low high
      (add_nonneg ζ0 ζ0) (he i hi) a2
    have quotient : (S * β + (e i - w i)) * f = T * (e i / T * f) :=
      calc (S * β + (e i - w i)) * f = (w i + (e i - w i)) * f := mul_congr (add_congr Sβ rfl) rfl
        _ = e i * f := mul_congr (ring (w i :: e i :: [])) rfl
        _ = (T * (e i / T)) * f := mul_congr (div_mul T0).symm rfl
        _ = T * (e i / T * f) := mul_assoc _ _ _
    let ξ := (1 + 1) * ((1 + g) * ((ζ + ζ) + κ))
    have lower : β - (g * β + ξ) ≤ e i / T * f := le_of_mul_le_mul T0 (le_trans step.left (le_of_eq quotient))
    have upper : e i / T * f ≤ β + (g * β + ξ) := le_of_mul_le_mul T0 (le_trans (le_of_eq quotient.symm) step.right)
    have near : Abs (e i / T * f - β) (g * β + ξ) :=
      ⟨le_of (sub_nonneg upper) (ring (e i / T * f :: β :: g * β :: ξ :: [])), le_of (sub_nonneg lower) (ring (e i / T * f :: β :: g * β :: ξ :: []))⟩
    -- (1 + g) 3 ≤ 4, so the rests are at most 2 * 4 ζ + ζ
    have rests : ξ + ζ ≤ cast 10 * ζ :=
      have third : (1 + 1 + 1) * g ≤ 1 := qg.third
      have G0 : 0 ≤ 1 + g := add_nonneg zero_le_one (le_trans (add_nonneg a0 b0) g0)
      have three : ξ ≤ (1 + 1) * ((1 + g) * ((1 + 1 + 1) * ζ)) :=
        mul_le_mul_left (mul_le_mul_left (le_of (sub_nonneg κζ) (ring (ζ :: κ :: []) : (1 + 1 + 1) * ζ - ((ζ + ζ) + κ) = ζ - κ)) G0) two
      le_trans (add_le_add_right three ζ) (le_trans
        (le_of (add_nonneg (mul_nonneg two (mul_nonneg ζ0 (sub_nonneg third))) ζ0) (ring (g :: ζ :: []) :
          ((1 + 1) * ((1 + 1) * (1 + 1) + 1)) * ζ - ((1 + 1) * ((1 + g) * ((1 + 1 + 1) * ζ)) + ζ) = (1 + 1) * (ζ * (1 - (1 + 1 + 1) * g)) + ζ))
        (le_of_eq (mul_congr cast_ten.symm rfl)))
    have same : a + b = (N + 1 + 1 + 1) * μ.u := ring (N :: μ.u :: [])
    have off : Abs (α i - β) (g * β + cast 10 * ζ) := abs_le (abs_of (abs_add near hz) (ring (α i :: e i / T * f :: β :: [])))
      (le_trans (le_of_eq (add_assoc (g * β) ξ ζ)) (add_le_add_left rests _))
    -- 1 + 1/3 + 10/16 ≤ 2
    have two' : β + (g * β + cast 10 * ζ) ≤ μ.M :=
      have third : (1 + 1 + 1) * g ≤ 1 := qg.third
      have gβ : g * β ≤ g := le_trans (mul_le_mul_left β1 (le_trans (add_nonneg a0 b0) g0)) (le_of_eq (mul_one g))
      have ten : cast 10 * ζ = ((1 + 1) * ((1 + 1) * (1 + 1) + 1)) * ζ := mul_congr cast_ten rfl
      have most : 1 + (g + ((1 + 1) * ((1 + 1) * (1 + 1) + 1)) * ζ) ≤ 1 + 1 := le_of_mul_le_mul (add_pos two_pos zero_le_one) (le_of
        (add_nonneg (sub_nonneg third) (add_nonneg (mul_nonneg two (sub_nonneg μ.ζ_small)) (mul_nonneg two ζ0))) (ring (g :: ζ :: []) :
          (1 + 1 + 1) * (1 + 1) - (1 + 1 + 1) * (1 + (g + ((1 + 1) * ((1 + 1) * (1 + 1) + 1)) * ζ))
            = (1 - (1 + 1 + 1) * g) + ((1 + 1) * (1 - (1 + 1) * ((1 + 1) * ((1 + 1) * ((1 + 1) * ζ)))) + (1 + 1) * ζ)))
      le_trans (add_le_add β1 (add_le_add gβ (le_of_eq ten))) (le_trans most hM)
    ⟨replace same.symm (fun c => Abs (α i - β) (γ c * β + cast 10 * ζ)) off,
     abs_le (abs_of (abs_add (abs_self β0) off) (ring (α i :: β :: []))) two'⟩
end
end CompactProofs
