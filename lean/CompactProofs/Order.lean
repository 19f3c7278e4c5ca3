import CompactProofs.Ring
/-!
# Inequalities

The usual laws of an ordered field, and the elementary facts about the exponential: `exp 0 = 1`, `0 < exp a`, monotonicity.
-/
namespace CompactProofs
variable {F : Type} [ExpField F]
open ExpField (exp inv)

theorem le_trans {a b c : F} (h : a ≤ b) (k : b ≤ c) : a ≤ c := ExpField.le_trans a b c h k
theorem le_refl (a : F) : a ≤ a := (ExpField.le_total a a).elim id id
theorem le_of_eq {a b : F} (h : a = b) : a ≤ b := h.rec (le_refl a)
theorem le_antisymm {a b : F} (h : a ≤ b) (k : b ≤ a) : a = b := ExpField.le_antisymm a b h k
theorem le_of_lt {a b : F} (h : a < b) : a ≤ b := (ExpField.le_total a b).elim id (fun k => absurd k h)
theorem lt_or_le (a b : F) : a < b ∨ b ≤ a := (ExpField.le_decide b a).elim .inr .inl
theorem lt_of_lt_of_le {a b c : F} (h : a < b) (k : b ≤ c) : a < c := fun l => h (le_trans k l)
theorem lt_of_le_of_lt {a b c : F} (h : a ≤ b) (k : b < c) : a < c := fun l => k (le_trans l h)
theorem lt_trans {a b c : F} (h : a < b) (k : b < c) : a < c := lt_of_lt_of_le h (le_of_lt k)
theorem lt_irrefl {a : F} (h : a < a) : False := h (le_refl a)
theorem not_lt_of_le {a b : F} (h : b ≤ a) (k : a < b) : False := k h
instance transLeLe : @Trans F F F LE.le LE.le LE.le := ⟨le_trans⟩
instance transLtLe : @Trans F F F LT.lt LE.le LT.lt := ⟨lt_of_lt_of_le⟩
instance transLeLt : @Trans F F F LE.le LT.lt LT.lt := ⟨lt_of_le_of_lt⟩
instance transLtLt : @Trans F F F LT.lt LT.lt LT.lt := ⟨lt_trans⟩

/-! ## Addition -/
theorem add_le_add_left {a b : F} (h : a ≤ b) (c : F) : c + a ≤ c + b := ExpField.add_le_add_left a b c h
theorem add_le_add_right {a b : F} (h : a ≤ b) (c : F) : a + c ≤ b + c :=
  calc a + c = c + a := add_comm a c
    _ ≤ c + b := add_le_add_left h c
    _ = b + c := add_comm c b
theorem add_le_add {a b c d : F} (h : a ≤ b) (k : c ≤ d) : a + c ≤ b + d :=
  le_trans (add_le_add_right h c) (add_le_add_left k b)
theorem sub_nonneg {a b : F} (h : a ≤ b) : 0 ≤ b - a :=
  calc 0 = a - a := ring (a :: [])
    _ ≤ b - a := add_le_add_right h (-a)
/-- To prove `a ≤ b`, show that `b - a` equals something known to be nonnegative. -/
theorem le_of {a b x : F} (h : 0 ≤ x) (e : b - a = x) : a ≤ b :=
  calc a = a + 0 := (add_zero a).symm
    _ ≤ a + x := add_le_add_left h a
    _ = a + (b - a) := add_congr rfl e.symm
    _ = b := ring (a :: b :: [])
theorem le_of_sub {a b : F} (h : 0 ≤ b - a) : a ≤ b := le_of h rfl
/-- To prove `a < b`, show that `b - a` equals something known to be positive. -/
theorem lt_of {a b x : F} (h : 0 < x) (e : b - a = x) : a < b := fun k =>
  h (le_of (sub_nonneg k) (calc (0 : F) - x = 0 - (b - a) := sub_congr rfl e.symm
      _ = a - b := ring (a :: b :: [])))
theorem sub_pos {a b : F} (h : a < b) : 0 < b - a := fun k =>
  h (le_of (sub_nonneg k) (ring (a :: b :: [])))
theorem nonneg_of {a x : F} (h : 0 ≤ x) (e : a = x) : 0 ≤ a := e.symm.rec h
theorem pos_of {a x : F} (h : 0 < x) (e : a = x) : 0 < a := e.symm.rec h
theorem add_nonneg {a b : F} (h : 0 ≤ a) (k : 0 ≤ b) : 0 ≤ a + b :=
  calc (0 : F) = 0 + 0 := (add_zero 0).symm
    _ ≤ a + b := add_le_add h k
theorem add_pos {a b : F} (h : 0 < a) (k : 0 ≤ b) : 0 < a + b :=
  calc (0 : F) < a := h
    _ = a + 0 := (add_zero a).symm
    _ ≤ a + b := add_le_add_left k a
theorem add_pos' {a b : F} (h : 0 ≤ a) (k : 0 < b) : 0 < a + b := pos_of (add_pos k h) (add_comm a b)
theorem add_lt_of {a b c d : F} (h : a < b) (k : c ≤ d) : a + c < b + d :=
  lt_of (add_pos (sub_pos h) (sub_nonneg k)) (ring (a :: b :: c :: d :: []))
theorem neg_le_neg {a b : F} (h : a ≤ b) : -b ≤ -a := le_of (sub_nonneg h) (ring (a :: b :: []))
theorem neg_nonneg {a : F} (h : a ≤ 0) : 0 ≤ -a := le_of (sub_nonneg h) (ring (a :: []))
theorem neg_nonneg_of {a : F} (h : 0 ≤ -a) : a ≤ 0 := le_of h (ring (a :: []))
theorem neg_neg (a : F) : - -a = a := ring (a :: [])

/-! ## Multiplication -/
theorem mul_nonneg {a b : F} (h : 0 ≤ a) (k : 0 ≤ b) : 0 ≤ a * b := ExpField.mul_nonneg a b h k
theorem mul_le_mul_left {a b c : F} (h : a ≤ b) (k : 0 ≤ c) : c * a ≤ c * b :=
  le_of (mul_nonneg k (sub_nonneg h)) (ring (a :: b :: c :: []))
theorem mul_le_mul_right {a b c : F} (h : a ≤ b) (k : 0 ≤ c) : a * c ≤ b * c :=
  le_of (mul_nonneg (sub_nonneg h) k) (ring (a :: b :: c :: []))
/-- Bounds of nonnegative factors give a bound of the product. -/
theorem mul_le_mul {a b c d : F} (h : a ≤ b) (k : c ≤ d) (ha : 0 ≤ a) (hd : 0 ≤ d) : a * c ≤ b * d :=
  le_trans (mul_le_mul_left k ha) (mul_le_mul_right h hd)
theorem square_nonneg (a : F) : 0 ≤ a * a :=
  (ExpField.le_total 0 a).elim (fun h => mul_nonneg h h)
    (fun h => nonneg_of (mul_nonneg (neg_nonneg h) (neg_nonneg h)) (ring (a :: [])))
theorem zero_le_one : (0 : F) ≤ 1 := nonneg_of (square_nonneg 1) (ring [])
theorem zero_lt_one : (0 : F) < 1 := fun h => ExpField.zero_ne_one (le_antisymm zero_le_one h)
theorem ne_of_pos {a : F} (h : 0 < a) : a ≠ 0 := fun e => h (le_of_eq e)
theorem mul_inv {a : F} (h : 0 < a) : a * inv a = 1 := ExpField.mul_inv a (ne_of_pos h)
theorem inv_nonneg {a : F} (h : 0 < a) : 0 ≤ inv a :=
  (ExpField.le_total 0 (inv a)).elim id (fun k =>
    have : (1 : F) ≤ 0 :=
      le_of (mul_nonneg (le_of_lt h) (neg_nonneg k))
        (calc (0 : F) - 1 = 0 - a * inv a := sub_congr rfl (mul_inv h).symm
          _ = a * -inv a := ring (a :: inv a :: []))
    absurd this zero_lt_one)
theorem inv_pos {a : F} (h : 0 < a) : 0 < inv a := fun k =>
  have e : inv a = 0 := le_antisymm k (inv_nonneg h)
  zero_lt_one (le_of_eq (calc (1 : F) = a * inv a := (mul_inv h).symm
    _ = a * 0 := mul_congr rfl e
    _ = 0 := mul_zero a))
theorem mul_pos {a b : F} (h : 0 < a) (k : 0 < b) : 0 < a * b := fun l =>
  k (calc b = b * 1 := (mul_one b).symm
    _ = b * (a * inv a) := mul_congr rfl (mul_inv h).symm
    _ = inv a * (a * b) := ring (a :: b :: inv a :: [])
    _ ≤ inv a * 0 := mul_le_mul_left l (inv_nonneg h)
    _ = 0 := mul_zero (inv a))
/-- A positive factor may be cancelled. -/
theorem le_of_mul_le_mul {a b c : F} (hc : 0 < c) (h : c * a ≤ c * b) : a ≤ b :=
  (ExpField.le_decide a b).elim id (fun k =>
    absurd h (lt_of (mul_pos hc (sub_pos (fun l => k l))) (ring (a :: b :: c :: []))))
theorem nonneg_of_mul {b c : F} (hc : 0 < c) (h : 0 ≤ c * b) : 0 ≤ b :=
  le_of_mul_le_mul hc (calc c * 0 = 0 := mul_zero c
    _ ≤ c * b := h)
theorem pos_of_mul {b c : F} (hc : 0 ≤ c) (h : 0 < c * b) : 0 < b := fun k =>
  h (calc c * b ≤ c * 0 := mul_le_mul_left k hc
    _ = 0 := mul_zero c)
theorem le_of_square_le {x b : F} (hb : 0 ≤ b) (h : x * x ≤ b * b) : x ≤ b :=
  (ExpField.le_decide x b).elim id (fun k =>
    have hx : b < x := k
    absurd h (lt_of (mul_pos (sub_pos hx) (add_pos' hb (lt_of_le_of_lt hb hx))) (ring (b :: x :: []))))
/-- If `z y = s` with `z > 0` then `y` and `s` have the same sign. -/
theorem neg_iff {z y s : F} (hz : 0 < z) (e : z * y = s) : y < 0 ↔ s < 0 :=
  ⟨fun h => lt_of (mul_pos hz (sub_pos h)) ((sub_congr rfl e.symm).trans (ring (z :: y :: []))),
   fun h => lt_of (pos_of_mul (le_of_lt hz) (calc (0 : F) < 0 - s := sub_pos h
      _ = 0 - z * y := sub_congr rfl e.symm
      _ = z * (0 - y) := ring (z :: y :: []))) rfl⟩
theorem nonneg_iff {z y s : F} (hz : 0 < z) (e : z * y = s) : 0 ≤ y ↔ 0 ≤ s :=
  ⟨fun h => nonneg_of (mul_nonneg (le_of_lt hz) h) e.symm, fun h => nonneg_of_mul hz (nonneg_of h e)⟩
theorem div_eq (a b : F) : a / b = a * inv b := rfl
theorem div_mul {a b : F} (h : 0 < b) : b * (a / b) = a :=
  calc b * (a / b) = b * (a * inv b) := rfl
    _ = a * (b * inv b) := mul_left_comm b a (inv b)
    _ = a * 1 := mul_congr rfl (mul_inv h)
    _ = a := mul_one a
theorem inv_unique {a b : F} (h : 0 < a) (e : a * b = 1) : b = inv a :=
  calc b = 1 * b := (one_mul b).symm
    _ = (a * inv a) * b := mul_congr (mul_inv h).symm rfl
    _ = inv a * (a * b) := ring (a :: b :: inv a :: [])
    _ = inv a * 1 := mul_congr rfl e
    _ = inv a := mul_one (inv a)
theorem inv_le_inv {a b : F} (h : 0 < a) (k : a ≤ b) : inv b ≤ inv a :=
  have hb : 0 < b := lt_of_lt_of_le h k
  le_of_mul_le_mul h (calc a * inv b ≤ b * inv b := mul_le_mul_right k (inv_nonneg hb)
    _ = 1 := mul_inv hb
    _ = a * inv a := (mul_inv h).symm)

/-! ## The exponential -/
theorem exp_add (a b : F) : exp (a + b) = exp a * exp b := ExpField.exp_add a b
theorem one_add_le_exp (a : F) : 1 + a ≤ exp a := ExpField.one_add_le_exp a
theorem exp_zero : exp (0 : F) = 1 :=
  have h : (0 : F) < exp 0 := calc (0 : F) < 1 := zero_lt_one
    _ = 1 + 0 := (add_zero 1).symm
    _ ≤ exp 0 := one_add_le_exp 0
  have e : exp (0 : F) * exp 0 = exp 0 :=
    (exp_add 0 0).symm.trans (congrArg exp (add_zero 0))
  calc exp (0 : F) = exp 0 * 1 := (mul_one _).symm
    _ = exp 0 * (exp 0 * inv (exp 0)) := mul_congr rfl (mul_inv h).symm
    _ = (exp 0 * exp 0) * inv (exp 0) := (mul_assoc _ _ _).symm
    _ = exp 0 * inv (exp 0) := mul_congr e rfl
    _ = 1 := mul_inv h
theorem exp_mul_exp_neg (a : F) : exp a * exp (-a) = 1 :=
  (exp_add a (-a)).symm.trans ((congrArg exp (add_neg a)).trans exp_zero)
/-- One half. -/
noncomputable def half : F := inv (1 + 1)
theorem two_pos : (0 : F) < 1 + 1 := add_pos zero_lt_one zero_le_one
theorem half_add_half (a : F) : half * a + half * a = a :=
  calc half * a + half * a = ((1 + 1) * half) * a := ring (a :: half :: [])
    _ = 1 * a := mul_congr (mul_inv two_pos) rfl
    _ = a := one_mul a
theorem exp_nonneg (a : F) : 0 ≤ exp a :=
  nonneg_of (square_nonneg (exp (half * a))) ((congrArg exp (half_add_half a)).symm.trans (exp_add _ _))
theorem exp_pos (a : F) : 0 < exp a := fun h =>
  have e : exp a = 0 := le_antisymm h (exp_nonneg a)
  zero_lt_one (le_of_eq (calc (1 : F) = exp a * exp (-a) := (exp_mul_exp_neg a).symm
    _ = 0 * exp (-a) := mul_congr e rfl
    _ = 0 := zero_mul _))
theorem exp_neg (a : F) : exp (-a) = inv (exp a) := inv_unique (exp_pos a) (exp_mul_exp_neg a)
theorem exp_le_exp {a b : F} (h : a ≤ b) : exp a ≤ exp b :=
  calc exp a = exp a * 1 := (mul_one _).symm
    _ ≤ exp a * (1 + (b - a)) := mul_le_mul_left (le_of (sub_nonneg h) (ring (a :: b :: []))) (exp_nonneg a)
    _ ≤ exp a * exp (b - a) := mul_le_mul_left (one_add_le_exp (b - a)) (exp_nonneg a)
    _ = exp (a + (b - a)) := (exp_add _ _).symm
    _ = exp b := congrArg exp (ring (a :: b :: []))
end CompactProofs
