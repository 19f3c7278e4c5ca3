import CompactProofs.Circuits
/-!
# Enclosures of the exponential: rule `weights`
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- The ways in which the checker obtains an enclosure `l ≤ exp x ≤ u`. -/
inductive ExpBounds : F → F → F → Prop where
  /-- For `-1 ≤ x < 1`: `1 + x ≤ exp x ≤ 1 / (1 - x)`. At `x = -x₀` with a tiny `x₀ ≥ 0` this is `1 - x₀ ≤ exp (-x₀) ≤ 1 / (1 + x₀)`. -/
  | base (x : F) (hl : 0 ≤ 1 + x) (hu : 0 < 1 - x) : ExpBounds (1 + x) (inv (1 - x)) x
  /-- Products of enclosures belong to sums of arguments. -/
  | mul (l u x k v y : F) (hx : ExpBounds l u x) (hy : ExpBounds k v y) : ExpBounds (l * k) (u * v) (x + y)
  /-- Outward rounding. -/
  | round (l u x k v : F) (hx : ExpBounds l u x) (hk : k ≤ l) (h0 : 0 ≤ k) (hv : u ≤ v) : ExpBounds k v x
  /-- The same argument written differently. -/
  | cong (l u x y : F) (hx : ExpBounds l u x) (e : x = y) : ExpBounds l u y

theorem exp_le_inv {x : F} (h : 0 < 1 - x) : exp x ≤ inv (1 - x) :=
  have a : 1 - x ≤ exp (-x) := one_add_le_exp (-x)
  calc exp x = exp (- -x) := congrArg exp (neg_neg x).symm
    _ = inv (exp (-x)) := exp_neg (-x)
    _ ≤ inv (1 - x) := inv_le_inv h a

/-- **Rule `weights`.** Every enclosure that the checker obtains holds, and its lower end is nonnegative. Only `1 + x ≤ exp x` and `exp (x +
y) = exp x * exp y` are used. -/
theorem Rule.weights (l u x : F) (h : ExpBounds l u x) : 0 ≤ l ∧ l ≤ exp x ∧ exp x ≤ u :=
  ExpBounds.rec (motive := fun l u x _ => 0 ≤ l ∧ l ≤ exp x ∧ exp x ≤ u)
    (fun x hl hu => ⟨hl, one_add_le_exp x, exp_le_inv hu⟩)
    (fun l u x k v y _ _ ix iy =>
      have e : exp (x + y) = exp x * exp y := exp_add x y
      ⟨mul_nonneg ix.left iy.left,
       calc l * k ≤ exp x * exp y := mul_le_mul ix.right.left iy.right.left ix.left (exp_nonneg y)
         _ = exp (x + y) := e.symm,
       calc exp (x + y) = exp x * exp y := e
         _ ≤ u * v := mul_le_mul ix.right.right iy.right.right (exp_nonneg x) (le_trans (exp_nonneg y) iy.right.right)⟩)
    (fun l u x k v _ hk h0 hv ih => ⟨h0, le_trans hk ih.right.left, le_trans ih.right.right hv⟩)
    (fun l u x y _ e ih => e.rec ih) h

/-- `y` squared `s` times, that is `y^(2^s)`. -/
def squared : Nat → F → F
  | .zero, y => y
  | .succ s, y => squared s y * squared s y
/-- `y` doubled `s` times, that is `2^s * y`. -/
def doubled : Nat → F → F
  | .zero, y => y
  | .succ s, y => doubled s y + doubled s y

theorem exp_doubled : (s : Nat) → (y : F) → exp (doubled s y) = squared s (exp y)
  | .zero, _ => rfl
  | .succ s, y => (exp_add _ _).trans (mul_congr (exp_doubled s y) (exp_doubled s y))
theorem squared_nonneg : (s : Nat) → {y : F} → 0 ≤ y → 0 ≤ squared s y
  | .zero, _, h => h
  | .succ _, _, _ => square_nonneg _
theorem squared_pos : (s : Nat) → {y : F} → 0 < y → 0 < squared s y
  | .zero, _, h => h
  | .succ s, _, h => mul_pos (squared_pos s h) (squared_pos s h)
theorem squared_le : (s : Nat) → {y z : F} → 0 ≤ y → y ≤ z → squared s y ≤ squared s z
  | .zero, _, _, _, k => k
  | .succ s, _, _, h, k =>
    mul_le_mul (squared_le s h k) (squared_le s h k) (squared_nonneg s h) (squared_nonneg s (le_trans h k))
theorem doubled_neg : (s : Nat) → (y : F) → doubled s (-y) = -doubled s y
  | .zero, _ => rfl
  | .succ s, y => (add_congr (doubled_neg s y) (doubled_neg s y)).trans
      (show -doubled s y + -doubled s y = -(doubled s y + doubled s y) from ring (doubled s y :: []))

/-- **Rule `weights`, by repeated squaring:** `(1 + y)^(2^s) ≤ exp (2^s y) ≤ 1 / (1 - y)^(2^s)` for `|y| < 1`; with `y = x / 2^s`
this is `(1 + x/2^s)^(2^s) ≤ exp x ≤ 1/(1 - x/2^s)^(2^s)`. -/
theorem Rule.weights.power (s : Nat) (y : F) (hl : 0 ≤ 1 + y) (hu : 0 < 1 - y) :
    squared s (1 + y) ≤ exp (doubled s y) ∧ exp (doubled s y) ≤ inv (squared s (1 - y)) :=
  ⟨calc squared s (1 + y) ≤ squared s (exp y) := squared_le s hl (one_add_le_exp y)
     _ = exp (doubled s y) := (exp_doubled s y).symm,
   calc exp (doubled s y) = exp (- -doubled s y) := congrArg exp (neg_neg _).symm
     _ = exp (-doubled s (-y)) := congrArg exp (neg_congr (doubled_neg s y).symm)
     _ = inv (exp (doubled s (-y))) := exp_neg _
     _ ≤ inv (squared s (1 - y)) := inv_le_inv (squared_pos s hu)
         (calc squared s (1 - y) ≤ squared s (exp (-y)) := squared_le s (le_of_lt hu) (one_add_le_exp (-y))
           _ = exp (doubled s (-y)) := (exp_doubled s (-y)).symm)⟩

/-- **Rule `weights`, enclosed arguments:** if `a ≤ x ≤ b`, enclosures at `a` and `b` enclose `exp x`. -/
theorem Rule.weights.of_interval (a b x l u k v : F) (ha : a ≤ x) (hb : x ≤ b) (h : ExpBounds l u a) (g : ExpBounds k v b) :
    l ≤ exp x ∧ exp x ≤ v :=
  ⟨le_trans (Rule.weights l u a h).right.left (exp_le_exp ha), le_trans (exp_le_exp hb) (Rule.weights k v b g).right.right⟩

/-- **Rule `weights`, a score difference times an enclosed scale:** the sign of the difference decides which end of the enclosure of the
scale is used. -/
theorem Rule.weights.scaled (s lo hi d : F) (hlo : lo ≤ s) (hhi : s ≤ hi) :
    (0 ≤ d → lo * d ≤ s * d ∧ s * d ≤ hi * d) ∧ (d ≤ 0 → hi * d ≤ s * d ∧ s * d ≤ lo * d) :=
  ⟨fun h => ⟨mul_le_mul_right hlo h, mul_le_mul_right hhi h⟩,
   fun h => ⟨le_of (mul_nonneg (sub_nonneg hhi) (neg_nonneg h)) (ring (s :: hi :: d :: [])),
     le_of (mul_nonneg (sub_nonneg hlo) (neg_nonneg h)) (ring (s :: lo :: d :: []))⟩⟩

/-- **Rule `weights`, the scale:** if `0 ≤ lo`, `0 < hi` and `d lo² ≤ 1 ≤ d hi²`, then any positive `s` with `d s² = 1`, that is `1/√d`,
lies between them. -/
theorem Rule.weights.root (d s lo hi : F) (hd : 0 < d) (hs : 0 < s) (e : d * (s * s) = 1) (h0 : 0 < hi)
    (hlo : d * (lo * lo) ≤ 1) (hhi : 1 ≤ d * (hi * hi)) : lo ≤ s ∧ s ≤ hi :=
  ⟨le_of_square_le (le_of_lt hs) (le_of_mul_le_mul hd (le_trans hlo (le_of_eq e.symm))),
   le_of_square_le (le_of_lt h0) (le_of_mul_le_mul hd (le_trans (le_of_eq e) hhi))⟩
/-- `y` to the power `B`. -/
def powers (y : F) : Nat → F
  | .zero => 1
  | .succ B => powers y B * y
/-- **Rule `weights`, far away:** `0 ≤ exp (-x) ≤ 2^-B` for `x ≥ B`, since `exp 1 ≥ 2`. -/
theorem Rule.weights.tail (B : Nat) (x : F) (h : cast B ≤ x) : 0 ≤ exp (-x) ∧ exp (-x) ≤ powers half B :=
  ⟨exp_nonneg _, le_trans (exp_le_exp (neg_le_neg h)) (step B)⟩
where
  step : (B : Nat) → exp (-(cast B : F)) ≤ powers half B
    | .zero => le_of_eq ((congrArg exp (ring [] : -(0 : F) = 0)).trans exp_zero)
    | .succ B => calc exp (-(cast B + 1 : F)) = exp (-cast B + -1) := congrArg exp (ring (cast B :: []))
        _ = exp (-(cast B : F)) * exp (-1) := exp_add _ _
        _ ≤ powers half B * half := mul_le_mul (step B)
            (calc exp (-1 : F) = inv (exp 1) := exp_neg 1
              _ ≤ inv (1 + 1) := inv_le_inv two_pos (one_add_le_exp 1))
            (exp_nonneg _) (inv_nonneg two_pos)
end
end CompactProofs
