/-!
# Ordered fields with an exponential

The theorems of this project hold over every ordered field that has a function `exp` with

* `exp (a + b) = exp a * exp b`, and
* `1 + a ≤ exp a`.

The real numbers with the real exponential are the example that matters. Nothing else about the reals (no limits, no completeness, no square
roots) is used anywhere.
-/
namespace CompactProofs
universe u

/-- An ordered field with an exponential. `a < b` means `¬ b ≤ a`, and `a / b` means `a * inv b`. -/
class ExpField (F : Type) extends Add F, Mul F, Neg F, LE F where
  zero : F
  one : F
  inv : F → F
  exp : F → F
  add_assoc : ∀ a b c : F, (a + b) + c = a + (b + c)
  add_comm : ∀ a b : F, a + b = b + a
  add_zero : ∀ a : F, a + zero = a
  add_neg : ∀ a : F, a + -a = zero
  mul_assoc : ∀ a b c : F, (a * b) * c = a * (b * c)
  mul_comm : ∀ a b : F, a * b = b * a
  mul_one : ∀ a : F, a * one = a
  mul_add : ∀ a b c : F, a * (b + c) = a * b + a * c
  mul_inv : ∀ a : F, a ≠ zero → a * inv a = one
  zero_ne_one : zero ≠ one
  le_trans : ∀ a b c : F, a ≤ b → b ≤ c → a ≤ c
  le_antisymm : ∀ a b : F, a ≤ b → b ≤ a → a = b
  le_total : ∀ a b : F, a ≤ b ∨ b ≤ a
  le_decide : ∀ a b : F, a ≤ b ∨ ¬ a ≤ b
  add_le_add_left : ∀ a b c : F, a ≤ b → c + a ≤ c + b
  mul_nonneg : ∀ a b : F, zero ≤ a → zero ≤ b → zero ≤ a * b
  /-- First fact about the exponential. -/
  exp_add : ∀ a b : F, exp (a + b) = exp a * exp b
  /-- Second fact about the exponential. -/
  one_add_le_exp : ∀ a : F, one + a ≤ exp a

open ExpField (exp inv)
variable {F : Type} [ExpField F]

instance instZero : OfNat F 0 := ⟨ExpField.zero⟩
instance instOne : OfNat F 1 := ⟨ExpField.one⟩
instance instSub : Sub F := ⟨fun a b => a + -b⟩
instance instDiv : Div F := ⟨fun a b => a * inv b⟩
instance instLT : LT F := ⟨fun a b => ¬ b ≤ a⟩

/-! ## The ring laws, in the form in which the normaliser uses them -/
theorem add_comm (a b : F) : a + b = b + a := ExpField.add_comm a b
theorem add_assoc (a b c : F) : (a + b) + c = a + (b + c) := ExpField.add_assoc a b c
theorem add_zero (a : F) : a + 0 = a := ExpField.add_zero a
theorem zero_add (a : F) : 0 + a = a := (add_comm 0 a).trans (add_zero a)
theorem add_neg (a : F) : a + -a = 0 := ExpField.add_neg a
theorem mul_comm (a b : F) : a * b = b * a := ExpField.mul_comm a b
theorem mul_assoc (a b c : F) : (a * b) * c = a * (b * c) := ExpField.mul_assoc a b c
theorem mul_one (a : F) : a * 1 = a := ExpField.mul_one a
theorem one_mul (a : F) : 1 * a = a := (mul_comm 1 a).trans (mul_one a)
theorem mul_add (a b c : F) : a * (b + c) = a * b + a * c := ExpField.mul_add a b c
theorem add_mul (a b c : F) : (a + b) * c = a * c + b * c :=
  calc (a + b) * c = c * (a + b) := mul_comm (a + b) c
    _ = c * a + c * b := mul_add c a b
    _ = a * c + c * b := congrArg (fun x => x + c * b) (mul_comm c a)
    _ = a * c + b * c := congrArg (fun x => a * c + x) (mul_comm c b)

theorem add_congr {a b c d : F} (h : a = b) (k : c = d) : a + c = b + d := h.rec (k.rec rfl)
theorem mul_congr {a b c d : F} (h : a = b) (k : c = d) : a * c = b * d := h.rec (k.rec rfl)
theorem sub_congr {a b c d : F} (h : a = b) (k : c = d) : a - c = b - d := h.rec (k.rec rfl)
theorem neg_congr {a b : F} (h : a = b) : -a = -b := h.rec rfl

theorem add_left_comm (a b c : F) : a + (b + c) = b + (a + c) :=
  calc a + (b + c) = (a + b) + c := (add_assoc a b c).symm
    _ = (b + a) + c := add_congr (add_comm a b) rfl
    _ = b + (a + c) := add_assoc b a c
theorem add_add_add_comm (a b c d : F) : (a + b) + (c + d) = (a + c) + (b + d) :=
  calc (a + b) + (c + d) = a + (b + (c + d)) := add_assoc a b (c + d)
    _ = a + (c + (b + d)) := add_congr rfl (add_left_comm b c d)
    _ = (a + c) + (b + d) := (add_assoc a c (b + d)).symm
theorem mul_left_comm (a b c : F) : a * (b * c) = b * (a * c) :=
  calc a * (b * c) = (a * b) * c := (mul_assoc a b c).symm
    _ = (b * a) * c := mul_congr (mul_comm a b) rfl
    _ = b * (a * c) := mul_assoc b a c
theorem add_right_cancel {a b c : F} (h : a + c = b + c) : a = b :=
  calc a = a + 0 := (add_zero a).symm
    _ = a + (c + -c) := add_congr rfl (add_neg c).symm
    _ = (a + c) + -c := (add_assoc a c (-c)).symm
    _ = (b + c) + -c := add_congr h rfl
    _ = b + (c + -c) := add_assoc b c (-c)
    _ = b + 0 := add_congr rfl (add_neg c)
    _ = b := add_zero b
theorem sub_add_cancel (a b : F) : (a - b) + b = a :=
  calc (a + -b) + b = a + (-b + b) := add_assoc a (-b) b
    _ = a + 0 := add_congr rfl ((add_comm (-b) b).trans (add_neg b))
    _ = a := add_zero a
theorem zero_mul (a : F) : 0 * a = 0 :=
  add_right_cancel (c := 0 * a)
    (calc 0 * a + 0 * a = (0 + 0) * a := (add_mul 0 0 a).symm
      _ = 0 * a := mul_congr (add_zero 0) rfl
      _ = 0 + 0 * a := (zero_add (0 * a)).symm)
theorem mul_zero (a : F) : a * 0 = 0 := (mul_comm a 0).trans (zero_mul a)

/-- `x = p - n` as soon as `x + n = p`. -/
theorem eq_sub_of_add_eq {x p n : F} (h : x + n = p) : x = p - n :=
  add_right_cancel (c := n) (h.trans (sub_add_cancel p n).symm)
end CompactProofs
