import CompactProofs.Floating
/-!
# Rounding: the inequalities behind rule `float_error`

No format, no machine: a rounded operation is `x * f + h` with a factor `f` that the unit roundoff `u` allows (`Factor u f`) and a rest `h`
for underflow. Sums are trees, so that "in any order" is "for every tree".
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-! ## Absolute values -/

/-- `x` is at most `b` in absolute value. -/
def Abs (x b : F) : Prop := x ≤ b ∧ -x ≤ b

theorem abs_add {x y a b : F} (h : Abs x a) (k : Abs y b) : Abs (x + y) (a + b) :=
  ⟨add_le_add h.left k.left, le_of (add_nonneg (sub_nonneg h.right) (sub_nonneg k.right)) (ring (x :: y :: a :: b :: []))⟩
theorem abs_neg {x a : F} (h : Abs x a) : Abs (-x) a := ⟨h.right, le_trans (le_of_eq (neg_neg x)) h.left⟩
theorem abs_le {x a b : F} (h : Abs x a) (k : a ≤ b) : Abs x b := ⟨le_trans h.left k, le_trans h.right k⟩
theorem abs_of {x y a : F} (h : Abs y a) (e : x = y) : Abs x a := e.symm.rec h
theorem abs_nonneg {x a : F} (h : Abs x a) : 0 ≤ a :=
  nonneg_of_mul two_pos (nonneg_of (add_nonneg (sub_nonneg h.left) (sub_nonneg h.right)) (ring (x :: a :: []) : (1 + 1) * a = (a - x) + (a - -x)))
theorem abs_self {x : F} (h : 0 ≤ x) : Abs x x := ⟨le_refl x, le_of (add_nonneg h h) (ring (x :: []))⟩
theorem abs_zero {a : F} (h : 0 ≤ a) : Abs (0 : F) a := ⟨h, le_of h (ring (a :: []))⟩
theorem abs_mul {x y a b : F} (h : Abs x a) (k : Abs y b) : Abs (x * y) (a * b) :=
  ⟨le_of_sub (nonneg_of_mul two_pos (nonneg_of
      (add_nonneg (mul_nonneg (sub_nonneg h.left) (sub_nonneg k.right)) (mul_nonneg (sub_nonneg h.right) (sub_nonneg k.left)))
      (ring (x :: y :: a :: b :: []) : (1 + 1) * (a * b - x * y) = (a - x) * (b - -y) + (a - -x) * (b - y)))),
   le_of_sub (nonneg_of_mul two_pos (nonneg_of
      (add_nonneg (mul_nonneg (sub_nonneg h.left) (sub_nonneg k.left)) (mul_nonneg (sub_nonneg h.right) (sub_nonneg k.right)))
      (ring (x :: y :: a :: b :: []) : (1 + 1) * (a * b - -(x * y)) = (a - x) * (b - y) + (a - -x) * (b - -y))))⟩
theorem abs_sum : (n : Nat) → {f g : Nat → F} → (∀ i, i < n → Abs (f i) (g i)) → Abs (sum n f) (sum n g)
  | .zero, _, _, _ => abs_zero (le_refl 0)
  | .succ n, _, _, h => abs_add (abs_sum n (fun i hi => h i (lt_succ_of_lt hi))) (h n (lt_succ_self n))

/-! ## Products of roundings -/

/-- `f` is a product of factors `1 + δ` and `1 / (1 + δ)`, where the bounds of the `|δ|` add up to `a`; or nothing worse. -/
def Factor (a f : F) : Prop := 1 - a ≤ f ∧ f * (1 - a) ≤ 1

/-- One rounding. -/
theorem factor_of_error {u d : F} (h : Abs d u) (k : u ≤ 1) : Factor u (1 + d) :=
  ⟨le_of (sub_nonneg h.right) (ring (u :: d :: [])),
   le_of (add_nonneg (mul_nonneg (sub_nonneg h.left) (sub_nonneg k)) (square_nonneg u)) (ring (u :: d :: []))⟩
theorem factor_one {a : F} (h : 0 ≤ a) : Factor a 1 := ⟨le_of h (ring (a :: [])), le_of h (ring (a :: []))⟩
theorem factor_pos {a f : F} (h : Factor a f) (k : a < 1) : 0 < f := lt_of_lt_of_le (sub_pos k) h.left
/-- Division by a rounded number. -/
theorem factor_inv {a f : F} (h : Factor a f) (k : a < 1) : Factor a (inv f) :=
  have f0 : 0 < f := factor_pos h k
  ⟨le_of_mul_le_mul f0 (calc f * (1 - a) ≤ 1 := h.right
      _ = f * inv f := (mul_inv f0).symm),
   calc inv f * (1 - a) ≤ inv f * f := mul_le_mul_left h.left (inv_nonneg f0)
    _ = f * inv f := mul_comm _ _
    _ = 1 := mul_inv f0⟩
/-- Roundings after each other. -/
theorem factor_mul {a b f g : F} (h : Factor a f) (k : Factor b g) (ha : 0 ≤ a) (hb : 0 ≤ b) (hab : a + b < 1) : Factor (a + b) (f * g) :=
  have a1 : a < 1 := lt_of_le_of_lt (le_of hb (ring (a :: b :: []))) hab
  have b1 : b < 1 := lt_of_le_of_lt (le_of ha (ring (a :: b :: []))) hab
  have f0 : 0 ≤ f := le_of_lt (factor_pos h a1)
  have g0 : 0 ≤ g := le_of_lt (factor_pos k b1)
  have ab : 0 ≤ a * b := mul_nonneg ha hb
  ⟨calc 1 - (a + b) ≤ (1 - a) * (1 - b) := le_of ab (ring (a :: b :: []))
    _ ≤ f * g := mul_le_mul h.left k.left (le_of_lt (sub_pos a1)) g0,
   calc f * g * (1 - (a + b)) ≤ f * g * ((1 - a) * (1 - b)) := mul_le_mul_left (le_of ab (ring (a :: b :: []))) (mul_nonneg f0 g0)
    _ = (f * (1 - a)) * (g * (1 - b)) := ring (a :: b :: f :: g :: [])
    _ ≤ 1 * 1 := mul_le_mul h.right k.right (mul_nonneg f0 (le_of_lt (sub_pos a1))) zero_le_one
    _ = 1 := mul_one 1⟩

/-- `f 0 * ... * f (n - 1)`. -/
def prod : Nat → (Nat → F) → F
  | .zero, _ => 1
  | .succ n, f => prod n f * f n

/-- **Rule `float_error`, `γ_n`.** The product of `n` factors `1 + δ` or `1 / (1 + δ)` with `|δ| ≤ u`, `n u < 1`, is within
`γ_n = n u / (1 - n u)` of 1. -/
theorem Rule.float_error.product (u : F) (hu : 0 ≤ u) : (n : Nat) → (f : Nat → F) → cast n * u < 1 → (∀ i, i < n → Factor u (f i)) →
    Factor (cast n * u) (prod n f)
  | .zero, _, _, _ => factor_one (le_of_eq (zero_mul u).symm)
  | .succ n, f, h, k =>
    have e : cast n * u + u = cast (Nat.succ n) * u :=
      show cast n * u + u = (cast n + 1) * u from ring (cast n :: u :: [])
    have h' : cast n * u + u < 1 := lt_of_le_of_lt (le_of_eq e) h
    have small : cast n * u < 1 := lt_of_le_of_lt (le_of hu (ring (cast n * u :: u :: []))) h'
    replace e.symm (fun a => Factor a (prod n f * f n))
      (factor_mul (Rule.float_error.product u hu n f small (fun i hi => k i (lt_succ_of_lt hi))) (k n (lt_succ_self n))
        (mul_nonneg (cast_nonneg n) hu) hu h')
theorem Rule.float_error.gamma {a f g : F} (h : Factor a f) (ha : 0 ≤ a) (k : a < 1) (hg : g * (1 - a) = a) : Abs (f - 1) g :=
  have b0 : 0 < 1 - a := sub_pos k
  have g0 : 0 ≤ g := nonneg_of_mul b0 (nonneg_of ha ((mul_comm _ _).trans hg))
  ⟨le_of_mul_le_mul b0 (calc (1 - a) * (f - 1) = f * (1 - a) - (1 - a) := ring (a :: f :: [])
      _ ≤ 1 - (1 - a) := add_le_add_right h.right _
      _ = a := ring (a :: [])
      _ = (1 - a) * g := (mul_comm _ _ |>.trans hg).symm),
   calc -(f - 1) = 1 - f := ring (f :: [])
    _ ≤ a := le_of (sub_nonneg h.left) (ring (a :: f :: []))
    _ = g * (1 - a) := hg.symm
    _ ≤ g := le_of (mul_nonneg g0 ha) (ring (g :: a :: []))⟩

/-- **Rule `float_error`, division.** A quotient of numbers that carry roundings worth `a` and `b`, rounded once more (`c`), also by way of a
rounded reciprocal. -/
theorem Rule.float_error.division {x y f g e a b c : F} (hy : 0 < y) (hf : Factor a f) (hg : Factor b g) (he : Factor c e) (ha : 0 ≤ a) (hb : 0 ≤ b)
    (hc : 0 ≤ c) (k : a + b + c < 1) : Exists fun t => Factor (a + b + c) t ∧ (x * f) / (y * g) * e = (x / y) * t :=
  have ab : a + b < 1 := lt_of_le_of_lt (le_of hc (ring (a :: b :: c :: []))) k
  have b1 : b < 1 := lt_of_le_of_lt (le_of ha (ring (a :: b :: []))) ab
  have g0 : 0 < g := factor_pos hg b1
  have split : inv (y * g) = inv y * inv g := (inv_unique (mul_pos hy g0)
    (calc (y * g) * (inv y * inv g) = (y * inv y) * (g * inv g) := ring (y :: g :: inv y :: inv g :: [])
      _ = 1 * 1 := mul_congr (mul_inv hy) (mul_inv g0)
      _ = 1 := mul_one 1)).symm
  ⟨f * inv g * e, factor_mul (factor_mul hf (factor_inv hg b1) ha hb ab) he (add_nonneg ha hb) hc k,
   calc (x * f) * inv (y * g) * e = (x * f) * (inv y * inv g) * e := mul_congr (mul_congr rfl split) rfl
    _ = (x * inv y) * (f * inv g * e) := ring (x :: f :: inv y :: inv g :: e :: [])⟩

/-! ## Sums in any order -/

/-- A way to sum: which numbers are added first, and what each operation does to its result. A leaf is a term `x`, at most `a` in absolute
value; operations have a factor `f` and a rest `h`, at most `z`. A product of operands that the machine reads as zero is a leaf with a rest;
a product that is fused into the addition has factor 1. -/
inductive Addition (F : Type) where
  | leaf (x a f h z : F)
  | node (l r : Addition F) (f h z : F)

/-- What the machine gets. -/
def Addition.value : Addition F → F
  | .leaf x _ f h _ => x * f + h
  | .node l r f h _ => (l.value + r.value) * f + h
/-- The sum over the real numbers. -/
def Addition.exact : Addition F → F
  | .leaf x _ _ _ _ => x
  | .node l r _ _ _ => l.exact + r.exact
/-- The sum of the absolute values. -/
def Addition.size : Addition F → F
  | .leaf _ a _ _ _ => a
  | .node l r _ _ _ => l.size + r.size
/-- The sum of the rests. -/
def Addition.rest : Addition F → F
  | .leaf _ _ _ _ z => z
  | .node l r _ _ z => (l.rest + r.rest) + z
/-- The number of terms. -/
def Addition.terms : Addition F → F
  | .leaf _ _ _ _ _ => 1
  | .node l r _ _ _ => l.terms + r.terms
def Addition.Valid (u : F) : Addition F → Prop
  | .leaf x a f h z => (Factor u f ∧ Abs h z) ∧ Abs x a
  | .node l r f h z => (Factor u f ∧ Abs h z) ∧ (l.Valid u ∧ r.Valid u)

theorem Addition.terms_pos : (t : Addition F) → 1 ≤ t.terms
  | .leaf _ _ _ _ _ => le_refl 1
  | .node l r _ _ _ => le_trans l.terms_pos
      (le_of (le_trans zero_le_one r.terms_pos) (show (l.terms + r.terms) - l.terms = r.terms from ring (l.terms :: r.terms :: [])))
theorem Addition.size_bound (u : F) : (t : Addition F) → t.Valid u → Abs t.exact t.size
  | .leaf _ _ _ _ _, h => h.right
  | .node l r _ _ _, h => abs_add (l.size_bound u h.right.left) (r.size_bound u h.right.right)
theorem Addition.rest_nonneg (u : F) : (t : Addition F) → t.Valid u → 0 ≤ t.rest
  | .leaf _ _ _ _ _, h => abs_nonneg h.left.right
  | .node l r _ _ _, h => add_nonneg (add_nonneg (l.rest_nonneg u h.right.left) (r.rest_nonneg u h.right.right)) (abs_nonneg h.left.right)

/-- One addition: operands off by `D` from `E`. -/
theorem rounding_step {u G f A Z z D E h : F} (hu : 0 ≤ u) (hG : 0 ≤ G) (k : 1 ≤ G * (1 - u)) (hu1 : u ≤ 1) (hf : Factor u f) (hZ : 0 ≤ Z)
    (hD : D ≤ (G * (1 - u) - 1) * A + G * (1 - u) * Z) (hE : Abs E A) (hh : h ≤ z) (hz : 0 ≤ z) :
    (D + E) * f + h - E ≤ (G - 1) * A + G * (Z + z) :=
  have A0 : 0 ≤ A := abs_nonneg hE
  have f0 : 0 ≤ f := le_trans (sub_nonneg hu1) hf.left
  have Gu : 0 ≤ G * u := mul_nonneg hG hu
  have G1 : 0 ≤ G - 1 := nonneg_of (add_nonneg (sub_nonneg k) Gu) (ring (G :: u :: []))
  have full : 0 ≤ G * (1 - f * (1 - u)) := mul_nonneg hG (sub_nonneg hf.right)
  let P := (G * (1 - u) - 1) * A + G * (1 - u) * Z
  have common : 0 ≤ (P - D) * f + G * (1 - f * (1 - u)) * Z + ((z - h) + (G - 1) * z) :=
    add_nonneg (add_nonneg (mul_nonneg (sub_nonneg hD) f0) (mul_nonneg full hZ)) (add_nonneg (sub_nonneg hh) (mul_nonneg G1 hz))
  have rest : 0 ≤ (G - 1 - G * (1 - u) * f + f) * A - E * (f - 1) :=
    (ExpField.le_total 1 f).elim
      (fun h1 => nonneg_of (add_nonneg (mul_nonneg (sub_nonneg hE.left) (sub_nonneg h1)) (mul_nonneg full A0)) (ring (G :: u :: f :: A :: E :: [])))
      (fun h1 =>
        have ends : 0 ≤ (G - (1 + 1)) + ((1 + 1) - G * (1 - u)) * f :=
          linear_nonneg hf.left h1
            (nonneg_of (mul_nonneg hu (add_nonneg (sub_nonneg k) G1)) (ring (G :: u :: []) :
              (G - (1 + 1)) + ((1 + 1) - G * (1 - u)) * (1 - u) = u * ((G * (1 - u) - 1) + (G - 1))))
            (nonneg_of Gu (ring (G :: u :: []) : (G - (1 + 1)) + ((1 + 1) - G * (1 - u)) * 1 = G * u))
        nonneg_of (add_nonneg (mul_nonneg (sub_nonneg hE.right) (sub_nonneg h1)) (mul_nonneg ends A0)) (ring (G :: u :: f :: A :: E :: [])))
  have one : ((G - 1) * A + G * (Z + z)) - ((D + E) * f + h - E) - ((G - 1 - G * (1 - u) * f + f) * A - E * (f - 1))
      = (P - D) * f + G * (1 - f * (1 - u)) * Z + ((z - h) + (G - 1) * z) :=
    ring (G :: u :: f :: A :: Z :: z :: D :: E :: h :: [])
  le_of (add_nonneg common rest) ((sub_add_cancel _ _).symm.trans (add_congr one rfl))
theorem rounding_step_abs {u G f A Z z D E h : F} (hu : 0 ≤ u) (hG : 0 ≤ G) (k : 1 ≤ G * (1 - u)) (hu1 : u ≤ 1) (hf : Factor u f) (hZ : 0 ≤ Z)
    (hD : Abs D ((G * (1 - u) - 1) * A + G * (1 - u) * Z)) (hE : Abs E A) (hh : Abs h z) :
    Abs ((D + E) * f + h - E) ((G - 1) * A + G * (Z + z)) :=
  ⟨rounding_step hu hG k hu1 hf hZ hD.left hE hh.left (abs_nonneg hh),
   le_trans (le_of_eq (ring (D :: E :: f :: h :: []) : -((D + E) * f + h - E) = (-D + -E) * f + -h - -E))
    (rounding_step hu hG k hu1 hf hZ hD.right (abs_neg hE) hh.right (abs_nonneg hh))⟩

/-- **Rule `float_error`, the lemma on dot products.** A sum of `N` terms in any order, each operation with a factor that `u` allows and a
rest, is off by at most `(G - 1)` times the sum of the absolute values and `G` times the sum of the rests, where `G ≥ 1 / (1 - N u)`, so that
`G - 1` may be `γ_N`. -/
theorem Rule.float_error.dot (u : F) (hu : 0 ≤ u) : (t : Addition F) → (G : F) → 0 ≤ G → 1 ≤ G * (1 - t.terms * u) → u ≤ 1 → t.Valid u →
    Abs (t.value - t.exact) ((G - 1) * t.size + G * t.rest)
  | .leaf x a f h z, G, hG, k, hu1, v =>
    have k' : 1 ≤ G * (1 - u) := le_trans k (le_of_eq (show G * (1 - 1 * u) = G * (1 - u) from ring (G :: u :: [])))
    have one : Abs ((0 + x) * f + h - x) ((G - 1) * a + G * (0 + z)) :=
      rounding_step_abs hu hG k' hu1 v.left.left (le_refl 0)
        (abs_zero (nonneg_of (mul_nonneg (sub_nonneg k') (abs_nonneg v.right)) (ring (G :: u :: a :: [])))) v.right v.left.right
    abs_le (abs_of one (show x * f + h - x = (0 + x) * f + h - x from ring (x :: f :: h :: [])))
      (le_of_eq (show (G - 1) * a + G * (0 + z) = (G - 1) * a + G * z from ring (G :: a :: z :: [])))
  | .node l r f h z, G, hG, k, hu1, v =>
    have k0 : 1 ≤ G * (1 - (l.terms + r.terms) * u) := k
    have lu : 0 ≤ l.terms * u := mul_nonneg (le_trans zero_le_one l.terms_pos) hu
    have ru : 0 ≤ r.terms * u := mul_nonneg (le_trans zero_le_one r.terms_pos) hu
    have l1 : 0 ≤ (l.terms - 1) * u := mul_nonneg (sub_nonneg l.terms_pos) hu
    have r1 : 0 ≤ (r.terms - 1) * u := mul_nonneg (sub_nonneg r.terms_pos) hu
    have one : 1 ≤ G * (1 - u) := le_trans k0 (mul_le_mul_left (le_of (add_nonneg l1 ru) (ring (l.terms :: r.terms :: u :: []))) hG)
    have small : 0 ≤ G * (1 - u) := mul_nonneg hG (sub_nonneg hu1)
    have kl : 1 ≤ G * (1 - u) * (1 - l.terms * u) := le_trans k0
      (le_of (mul_nonneg hG (add_nonneg r1 (mul_nonneg hu lu))) (ring (G :: l.terms :: r.terms :: u :: [])))
    have kr : 1 ≤ G * (1 - u) * (1 - r.terms * u) := le_trans k0
      (le_of (mul_nonneg hG (add_nonneg l1 (mul_nonneg hu ru))) (ring (G :: l.terms :: r.terms :: u :: [])))
    have left := Rule.float_error.dot u hu l (G * (1 - u)) small kl hu1 v.right.left
    have right := Rule.float_error.dot u hu r (G * (1 - u)) small kr hu1 v.right.right
    have both : Abs ((l.value - l.exact) + (r.value - r.exact)) ((G * (1 - u) - 1) * (l.size + r.size) + G * (1 - u) * (l.rest + r.rest)) :=
      abs_le (abs_add left right) (le_of_eq (ring (G :: u :: l.size :: r.size :: l.rest :: r.rest :: [])))
    abs_of (rounding_step_abs hu hG one hu1 v.left.left (add_nonneg (l.rest_nonneg u v.right.left) (r.rest_nonneg u v.right.right)) both
        (abs_add (l.size_bound u v.right.left) (r.size_bound u v.right.right)) v.left.right)
      (show (l.value + r.value) * f + h - (l.exact + r.exact)
          = (((l.value - l.exact) + (r.value - r.exact)) + (l.exact + r.exact)) * f + h - (l.exact + r.exact) from
        ring (l.value :: r.value :: l.exact :: r.exact :: f :: h :: []))

/-! ## The exponential and the softmax -/

/-- **Rule `float_error`, exponentials.** An exponent that is off by at most `D`, and an exponential with a factor that roundings worth `a`
allow: the weight is off by a factor between `exp (-(D + γ))` and `exp (D + γ)`, `γ = a / (1 - a)`. -/
theorem Rule.float_error.exponential {a f γ s δ D : F} (hf : Factor a f) (ha : 0 ≤ a) (k : a < 1) (hγ : γ * (1 - a) = a) (hδ : Abs δ D) :
    exp (s + δ) * f ≤ exp (D + γ) * exp s ∧ exp s ≤ exp (D + γ) * (exp (s + δ) * f) :=
  have b0 : 0 < 1 - a := sub_pos k
  have f0 : 0 ≤ f := le_of_lt (factor_pos hf k)
  have grow : (1 + γ) * (1 - a) = 1 := calc (1 + γ) * (1 - a) = (1 - a) + γ * (1 - a) := ring (γ :: a :: [])
    _ = (1 - a) + a := add_congr rfl hγ
    _ = 1 := ring (a :: [])
  have up : f ≤ exp γ := le_trans (le_of_mul_le_mul b0 (calc (1 - a) * f = f * (1 - a) := mul_comm _ _
      _ ≤ 1 := hf.right
      _ = (1 - a) * (1 + γ) := (grow.symm.trans (mul_comm _ _)))) (one_add_le_exp γ)
  have down : 1 ≤ exp γ * f := calc 1 = (1 + γ) * (1 - a) := grow.symm
    _ ≤ exp γ * f := mul_le_mul (one_add_le_exp γ) hf.left (nonneg_of_mul b0 (le_trans zero_le_one (le_of_eq (grow.symm.trans (mul_comm _ _))))) f0
  have whole : exp (D + γ) = exp D * exp γ := exp_add D γ
  ⟨calc exp (s + δ) * f ≤ exp (s + D) * exp γ :=
        mul_le_mul (exp_le_exp (add_le_add_left hδ.left s)) up (exp_nonneg _) (exp_nonneg γ)
      _ = exp s * exp D * exp γ := mul_congr (exp_add s D) rfl
      _ = (exp D * exp γ) * exp s := ring (exp s :: exp D :: exp γ :: [])
      _ = exp (D + γ) * exp s := mul_congr whole.symm rfl,
   calc exp s = exp ((s + δ) + -δ) := congrArg exp (ring (s :: δ :: []))
    _ = exp (s + δ) * exp (-δ) := exp_add _ _
    _ ≤ exp (s + δ) * exp D := mul_le_mul_left (exp_le_exp hδ.right) (exp_nonneg _)
    _ = exp (s + δ) * exp D * 1 := (mul_one _).symm
    _ ≤ exp (s + δ) * exp D * (exp γ * f) := mul_le_mul_left down (mul_nonneg (exp_nonneg _) (exp_nonneg _))
    _ = (exp D * exp γ) * (exp (s + δ) * f) := ring (exp (s + δ) :: exp D :: exp γ :: f :: [])
    _ = exp (D + γ) * (exp (s + δ) * f) := mul_congr whole.symm rfl⟩

/-- Weights that are off by factors of at most `E` give shares that are off by factors of at most `E * E`. -/
theorem softmax_factor {n : Nat} {w u : Nat → F} {E : F} (hw : ∀ i, i < Nat.succ n → 0 < w i) (hu : ∀ i, i < Nat.succ n → 0 < u i) (hE : 0 ≤ E)
    (h1 : ∀ i, i < Nat.succ n → u i ≤ E * w i) (h2 : ∀ i, i < Nat.succ n → w i ≤ E * u i) (i : Nat) (hi : i < Nat.succ n) :
    softmax n u i ≤ E * E * softmax n w i :=
  let W := sum (Nat.succ n) w
  let U := sum (Nat.succ n) u
  have W0 : 0 < W := sum_pos hw
  have U0 : 0 < U := sum_pos hu
  have WU : W ≤ E * U := le_trans (sum_le h2) (le_of_eq (sum_mul_left _ _ _))
  le_of_mul_le_mul (mul_pos U0 W0)
    (calc (U * W) * (u i * inv U) = (U * inv U) * (u i * W) := ring (U :: W :: u i :: inv U :: [])
      _ = u i * W := (mul_congr (mul_inv U0) rfl).trans (one_mul _)
      _ ≤ (E * w i) * (E * U) := mul_le_mul (h1 i hi) WU (le_of_lt (hu i hi)) (mul_nonneg hE (le_of_lt U0))
      _ = 1 * ((E * w i) * (E * U)) := (one_mul _).symm
      _ = (W * inv W) * ((E * w i) * (E * U)) := mul_congr (mul_inv W0).symm rfl
      _ = (U * W) * (E * E * (w i * inv W)) := ring (U :: W :: w i :: inv W :: E :: []))
/-- **Rule `float_error`, softmax.** Scores that are off by at most `D` (but for a number common to all) give shares that are off by at most
`exp (2 D) - 1` times themselves. -/
theorem Rule.float_error.shares {n : Nat} {w u : Nat → F} {D : F} (hw : ∀ i, i < Nat.succ n → 0 < w i) (hu : ∀ i, i < Nat.succ n → 0 < u i)
    (hD : 0 ≤ D) (h1 : ∀ i, i < Nat.succ n → u i ≤ exp D * w i) (h2 : ∀ i, i < Nat.succ n → w i ≤ exp D * u i) (i : Nat) (hi : i < Nat.succ n) :
    Abs (softmax n u i - softmax n w i) ((exp (D + D) - 1) * softmax n w i) :=
  let a := softmax n w i
  let b := softmax n u i
  have e : exp (D + D) = exp D * exp D := exp_add D D
  have up : b ≤ exp (D + D) * a := le_trans (softmax_factor hw hu (exp_nonneg D) h1 h2 i hi) (le_of_eq (mul_congr e.symm rfl))
  have down : a ≤ exp (D + D) * b := le_trans (softmax_factor hu hw (exp_nonneg D) h2 h1 i hi) (le_of_eq (mul_congr e.symm rfl))
  have X1 : 1 ≤ exp (D + D) := le_trans (le_of (add_nonneg hD hD) (ring (D :: []))) (one_add_le_exp (D + D))
  have a0 : 0 ≤ a := softmax_nonneg hw i hi
  ⟨le_of (sub_nonneg up) (ring (exp (D + D) :: a :: b :: [])),
   le_of_mul_le_mul (lt_of_lt_of_le zero_lt_one X1)
    (le_of (add_nonneg (mul_nonneg (mul_nonneg (sub_nonneg X1) (sub_nonneg X1)) a0) (sub_nonneg down))
      (ring (exp (D + D) :: a :: b :: []) : exp (D + D) * ((exp (D + D) - 1) * a) - exp (D + D) * -(b - a)
        = (exp (D + D) - 1) * (exp (D + D) - 1) * a + (exp (D + D) * b - a)))⟩

/-- `2 ^ k`. -/
def double : Nat → F
  | .zero => 1
  | .succ k => double k + double k
theorem double_pos : (k : Nat) → (0 : F) < double k
  | .zero => zero_lt_one
  | .succ k => add_pos (double_pos k) (le_of_lt (double_pos k))

/-- The hyperbolic tangent of half of `x`, to the factor `2 K / (2 K - x)`, `K = 2 ^ k`: by halving `x` so many times. -/
theorem tangent_near : (k : Nat) → (x : F) → 0 ≤ x → (exp x - 1) * ((double k + double k) - x) ≤ double k * x * (exp x + 1)
  | .zero, x, _ =>
    have small : exp x * (1 - x) ≤ 1 := calc exp x * (1 - x) ≤ exp x * exp (-x) := mul_le_mul_left (one_add_le_exp (-x)) (exp_nonneg x)
      _ = 1 := exp_mul_exp_neg x
    le_of (add_nonneg (sub_nonneg small) (sub_nonneg small))
      (show 1 * x * (exp x + 1) - (exp x - 1) * ((1 + 1) - x) = (1 - exp x * (1 - x)) + (1 - exp x * (1 - x)) from ring (x :: exp x :: []))
  | .succ k, x, hx =>
    let h := half * x
    let e := exp h
    let K : F := double k
    have whole : h + h = x := half_add_half x
    have h0 : 0 ≤ h := nonneg_of_mul two_pos (nonneg_of hx ((ring (h :: []) : (1 + 1) * h = h + h).trans whole))
    have E : exp x = e * e := (congrArg exp whole.symm).trans (exp_add h h)
    have ih : (e - 1) * ((K + K) - h) ≤ K * h * (e + 1) := tangent_near k h h0
    have e1 : 0 ≤ e + 1 := add_nonneg (exp_nonneg h) zero_le_one
    have main : (e * e - 1) * (((K + K) + (K + K)) - (h + h)) ≤ (K + K) * (h + h) * (e * e + 1) :=
      have one : 0 ≤ (1 + 1) * ((e + 1) * (K * h * (e + 1) - (e - 1) * ((K + K) - h))) := mul_nonneg (le_of_lt two_pos) (mul_nonneg e1 (sub_nonneg ih))
      have two : 0 ≤ (1 + 1) * (K * h * ((e - 1) * (e - 1))) :=
        mul_nonneg (le_of_lt two_pos) (mul_nonneg (mul_nonneg (le_of_lt (double_pos k)) h0) (square_nonneg _))
      le_of (add_nonneg one two) (ring (K :: h :: e :: []))
    replace E (fun X => (X - 1) * (((K + K) + (K + K)) - x) ≤ (K + K) * x * (X + 1))
      (replace whole.symm (fun y => (e * e - 1) * (((K + K) + (K + K)) - y) ≤ (K + K) * y * (e * e + 1)) main)

/-- **Rule `float_error`, the factor `D / 2`.** `(exp D - 1) / (exp D + 1) ≤ D / 2`, in fields without infinitely small numbers: the reals
are one. With `Rule.float_error.average`, errors of at most `D` in the scores move an average by at most `D / 2` times the range. -/
theorem Rule.float_error.tangent (archimedes : ∀ x c : F, (∀ k, double k * x ≤ c) → x ≤ 0) {D τ : F} (hD : 0 ≤ D) (hτ : τ + τ = D) :
    exp D - 1 ≤ τ * (exp D + 1) :=
  let x := (1 + 1) * (exp D - 1) - D * (exp D + 1)
  have bounded : ∀ k, double k * x ≤ (exp D - 1) * D := fun k =>
    le_of (sub_nonneg (tangent_near k D hD)) (ring (double k :: D :: exp D :: []))
  have twice : (1 + 1) * (exp D - 1) ≤ (1 + 1) * (τ * (exp D + 1)) :=
    calc (1 + 1) * (exp D - 1) ≤ D * (exp D + 1) := le_of (neg_nonneg (archimedes x _ bounded)) (ring (D :: exp D :: []))
      _ = (τ + τ) * (exp D + 1) := mul_congr hτ.symm rfl
      _ = (1 + 1) * (τ * (exp D + 1)) := ring (τ :: exp D :: [])
  le_of_mul_le_mul two_pos twice

/-! ## What enters from the stage before -/

/-- **Rule `float_error`, steps 2 and 6.** `x W + b`, from inputs that are off by `e` and with a dot product that is off by `ρ`. -/
theorem Rule.float_error.linear (d : Nat) (x y e : Nat → F) (W A : Nat → Nat → F) (j : Nat) (b r ρ : F) (hx : ∀ l, l < d → Abs (y l - x l) (e l))
    (hW : ∀ l, l < d → Abs (W l j) (A l j)) (hr : Abs (r - (vecMul d y W j + b)) ρ) : Abs (r - (vecMul d x W j + b)) (ρ + vecMul d e A j) :=
  have moved : sum d (fun l => (y l - x l) * W l j) = vecMul d y W j - vecMul d x W j :=
    (sum_congr (fun l _ => (ring (y l :: x l :: W l j :: []) : (y l - x l) * W l j = y l * W l j - x l * W l j))).trans (sum_sub d _ _)
  abs_of (abs_add hr (abs_sum d (fun l hl => abs_mul (hx l hl) (hW l hl))))
    (calc r - (vecMul d x W j + b) = (r - (vecMul d y W j + b)) + (vecMul d y W j - vecMul d x W j) := ring (r :: b :: vecMul d x W j :: vecMul d y W j :: [])
      _ = (r - (vecMul d y W j + b)) + sum d (fun l => (y l - x l) * W l j) := add_congr rfl moved.symm)

/-- **Rule `float_error`, step 3.** A score, from a query and a key that are off by `e` and `g`, with a dot product that is off by `ρ`. -/
theorem Rule.float_error.scores (d : Nat) (q p e Q k l g K : Nat → F) (r ρ : F) (hq : ∀ h, h < d → Abs (p h - q h) (e h)) (hk : ∀ h, h < d → Abs (l h - k h) (g h))
    (hQ : ∀ h, h < d → Abs (q h) (Q h)) (hK : ∀ h, h < d → Abs (k h) (K h)) (hr : Abs (r - sum d (fun h => p h * l h)) ρ) :
    Abs (r - sum d (fun h => q h * k h)) (ρ + sum d (fun h => (Q h + e h) * g h + e h * K h)) :=
  have near : ∀ h, h < d → Abs (p h) (Q h + e h) := fun h hh => abs_of (abs_add (hQ h hh) (hq h hh)) (ring (p h :: q h :: []))
  have each : ∀ h, h < d → Abs (p h * l h - q h * k h) ((Q h + e h) * g h + e h * K h) := fun h hh =>
    abs_of (abs_add (abs_mul (near h hh) (hk h hh)) (abs_mul (hq h hh) (hK h hh))) (ring (p h :: q h :: l h :: k h :: []))
  have whole : sum d (fun h => p h * l h - q h * k h) = sum d (fun h => p h * l h) - sum d (fun h => q h * k h) := sum_sub d _ _
  abs_of (abs_add hr (abs_sum d each))
    (calc r - sum d (fun h => q h * k h) = (r - sum d (fun h => p h * l h)) + (sum d (fun h => p h * l h) - sum d (fun h => q h * k h)) :=
          ring (r :: sum d (fun h => p h * l h) :: sum d (fun h => q h * k h) :: [])
      _ = (r - sum d (fun h => p h * l h)) + sum d (fun h => p h * l h - q h * k h) := add_congr rfl whole.symm)

/-- **Rule `float_error`, step 5.** The average of the values, from shares that are off by a part `θ` of themselves and `ξ`, from values that
are off by `g`, and with a dot product that is off by `ρ`. -/
theorem Rule.float_error.values (N : Nat) (β a v y : Nat → F) (θ ξ V g z ρ : F) (total : sum N β = 1) (hβ : ∀ i, i < N → 0 ≤ β i)
    (ha : ∀ i, i < N → Abs (a i - β i) (θ * β i + ξ)) (hy : ∀ i, i < N → Abs (y i - v i) g) (hv : ∀ i, i < N → Abs (v i) V)
    (hz : Abs (z - sum N (fun i => a i * y i)) ρ) :
    Abs (z - sum N (fun i => β i * v i)) (ρ + ((θ + ξ * cast N) * V + (1 + (θ + ξ * cast N)) * g)) :=
  let w := fun i => θ * β i + ξ
  have near : ∀ i, i < N → Abs (a i) (β i + w i) := fun i hi => abs_of (abs_add (abs_self (hβ i hi)) (ha i hi)) (ring (a i :: β i :: []))
  have each : ∀ i, i < N → Abs (a i * y i - β i * v i) (w i * V + (β i + w i) * g) := fun i hi =>
    abs_of (abs_add (abs_mul (ha i hi) (hv i hi)) (abs_mul (near i hi) (hy i hi))) (ring (a i :: y i :: β i :: v i :: []))
  have shares : sum N w = θ + ξ * cast N := calc sum N w = sum N (fun i => θ * β i) + sum N (fun _ => ξ) := sum_add N _ _
    _ = θ * sum N β + ξ * cast N := add_congr (sum_mul_left N θ β) (sum_const N ξ)
    _ = θ * 1 + ξ * cast N := add_congr (mul_congr rfl total) rfl
    _ = θ + ξ * cast N := add_congr (mul_one θ) rfl
  have bound : sum N (fun i => w i * V + (β i + w i) * g) = (θ + ξ * cast N) * V + (1 + (θ + ξ * cast N)) * g :=
    calc sum N (fun i => w i * V + (β i + w i) * g) = sum N (fun i => w i * V) + sum N (fun i => (β i + w i) * g) := sum_add N _ _
      _ = sum N w * V + sum N (fun i => β i + w i) * g := add_congr (sum_mul_right N V w) (sum_mul_right N g _)
      _ = sum N w * V + (sum N β + sum N w) * g := add_congr rfl (mul_congr (sum_add N β w) rfl)
      _ = (θ + ξ * cast N) * V + (1 + (θ + ξ * cast N)) * g := add_congr (mul_congr shares rfl) (mul_congr (add_congr total shares) rfl)
  have whole : sum N (fun i => a i * y i - β i * v i) = sum N (fun i => a i * y i) - sum N (fun i => β i * v i) := sum_sub N _ _
  abs_le (abs_of (abs_add hz (abs_sum N each))
    (calc z - sum N (fun i => β i * v i) = (z - sum N (fun i => a i * y i)) + (sum N (fun i => a i * y i) - sum N (fun i => β i * v i)) :=
          ring (z :: sum N (fun i => a i * y i) :: sum N (fun i => β i * v i) :: [])
      _ = (z - sum N (fun i => a i * y i)) + sum N (fun i => a i * y i - β i * v i) := add_congr rfl whole.symm))
    (le_of_eq (add_congr rfl bound))

/-- **Rule `float_error`, from the average to the logit.** `β`: the shares that the program means; `z`, `r`, `y`: head, stream and logit that
it computes, off by `e`, `g` and `ρ` from what its own inputs ask for. `μ` is what the shares do to the average of what the positions give
to the logit (`Rule.float_error.average`). Errors of the head pass through the exact product of `WO` and `U`. -/
theorem Rule.float_error.logit (M : Model F) (n : Nat) (t : Nat → Nat) (o : Nat) (β z e r g : Nat → F) (A : Nat → Nat → F) (B : Nat → F) (y ρ μ : F)
    (hz : ∀ h, h < M.dHead → Abs (z h - sum (Nat.succ n) (fun i => β i * M.value i (t i) h)) (e h))
    (hr : ∀ l, l < M.dModel → Abs (r l - (M.residual n (t n) l + (vecMul M.dHead z M.WO l + M.bO l))) (g l))
    (hy : Abs (y - (vecMul M.dModel r M.U o + M.bU o)) ρ) (hU : ∀ l, l < M.dModel → Abs (M.U l o) (A l o))
    (hB : ∀ h, h < M.dHead → Abs (vecMul M.dModel (M.WO h) M.U o) (B h))
    (hm : Abs (sum (Nat.succ n) (fun i => β i * M.out (M.value i (t i)) o) - sum (Nat.succ n) (fun i => M.attention n t i * M.out (M.value i (t i)) o)) μ) :
    Abs (y - M.logit n t o) ((ρ + vecMul M.dModel g A o) + (sum M.dHead (fun h => e h * B h) + μ)) :=
  let stream := fun (z : Nat → F) l => M.residual n (t n) l + (vecMul M.dHead z M.WO l + M.bO l)
  let X := fun (z : Nat → F) => vecMul M.dModel (stream z) M.U o + M.bU o
  let w := fun h => sum (Nat.succ n) (fun i => β i * M.value i (t i) h)
  let direct := vecMul M.dModel (M.residual n (t n)) M.U o
  let bias := vecMul M.dModel M.bO M.U o
  have split : ∀ z : Nat → F, X z = (direct + (M.out z o + bias)) + M.bU o := fun z =>
    add_congr ((vecMul_add _ _ _ _ _).trans (add_congr rfl (vecMul_add _ _ _ _ _))) rfl
  have through : ∀ z : Nat → F, M.out z o = sum M.dHead (fun h => z h * vecMul M.dModel (M.WO h) M.U o) := fun z =>
    vecMul_sum M.dModel M.dHead z M.WO M.U o
  have moved : sum M.dHead (fun h => (z h - w h) * vecMul M.dModel (M.WO h) M.U o) = M.out z o - M.out w o :=
    ((sum_congr (fun h _ => (ring (z h :: w h :: vecMul M.dModel (M.WO h) M.U o :: []) :
        (z h - w h) * vecMul M.dModel (M.WO h) M.U o = z h * vecMul M.dModel (M.WO h) M.U o - w h * vecMul M.dModel (M.WO h) M.U o))).trans
      (sum_sub M.dHead _ _)).trans (sub_congr (through z).symm (through w).symm)
  have head : Abs (M.out z o - M.out w o) (sum M.dHead (fun h => e h * B h)) :=
    abs_of (abs_sum M.dHead (fun h hh => abs_mul (hz h hh) (hB h hh))) moved.symm
  have shares : Abs (M.out w o - M.out (M.head n t) o) μ :=
    abs_of hm (sub_congr (M.out_sum (Nat.succ n) β (fun i => M.value i (t i)) o) (M.out_sum (Nat.succ n) (M.attention n t) (fun i => M.value i (t i)) o))
  have last : Abs (y - X z) (ρ + vecMul M.dModel g A o) := Rule.float_error.linear M.dModel (stream z) r g M.U A o (M.bU o) y ρ hr hU hy
  abs_of (abs_add last (abs_add head shares))
    (calc y - M.logit n t o = y - X (M.head n t) := rfl
      _ = (y - X z) + (X z - X (M.head n t)) := ring (y :: X z :: X (M.head n t) :: [])
      _ = (y - X z) + (((direct + (M.out z o + bias)) + M.bU o) - ((direct + (M.out (M.head n t) o + bias)) + M.bU o)) :=
          add_congr rfl (sub_congr (split z) (split (M.head n t)))
      _ = (y - X z) + ((M.out z o - M.out w o) + (M.out w o - M.out (M.head n t) o)) :=
          add_congr rfl (ring (direct :: bias :: M.bU o :: M.out z o :: M.out w o :: M.out (M.head n t) o :: [])))
end
end CompactProofs
