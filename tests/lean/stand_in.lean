prelude
import CompactProofs.Foundation
/-!
# A stand-in for Mathlib

There is no Mathlib where the tests run. This file declares what the exported files use of Lean's library and of Mathlib, under the same names and with the
same types (for the real numbers alone where Mathlib has a class), so that Lean can elaborate them and check their proofs. It is used by
`tests/emit/test_lean_elaborated.py` and is part of no export. The axioms are theorems or definitions there.
-/
set_option bootstrap.inductiveCheckResultingUniverse false
universe u v
syntax:1024 (name := termReal) "ℝ" : term
syntax:1024 (name := termNat) "ℕ" : term
syntax:1024 (name := termInt) "ℤ" : term
syntax:1024 (name := termInv) term:1024 "⁻¹" : term
syntax:75 (name := termPow) term:76 " ^ " term:75 : term
@[macro termReal] def expandReal : Lean.Macro := fun _ _ s => .ok (Lean.mkCIdent `Real) s
@[macro termNat] def expandNat : Lean.Macro := fun _ _ s => .ok (Lean.mkCIdent `Nat) s
@[macro termInt] def expandInt : Lean.Macro := fun _ _ s => .ok (Lean.mkCIdent `Int) s
@[macro termInv] def expandInv : Lean.Macro := fun stx _ s =>
  .ok (Lean.Syntax.mkApp (Lean.mkCIdent `Inv.inv) (Array.mkArray1 (stx.getArg 0))) s
@[macro termPow] def expandPow : Lean.Macro := fun stx _ s => Lean.infixMacro `HPow.hPow stx s

/-! ## Lean's own library -/
class Inv (α : Type u) where
  inv : α → α
class HPow (α : Type u) (β : Type v) (γ : outParam (Type u)) where
  hPow : α → β → γ
class inductive Decidable (p : Prop) : Type where
  | isFalse (h : Not p) : Decidable p
  | isTrue (h : p) : Decidable p
def Decidable.decide (p : Prop) [h : Decidable p] : Bool := match h with
  | .isFalse _ => false
  | .isTrue _ => true
def Bool.toNat (b : Bool) : Nat := match b with
  | true => 1
  | false => 0
axiom Int : Type
axiom Int.instNumeral (n : Nat) : OfNat Int n
axiom Int.instNegInt : Neg Int
attribute [instance] Int.instNumeral Int.instNegInt
abbrev decide (p : Prop) [h : Decidable p] : Bool := Decidable.decide p
theorem decide_eq_true : {p : Prop} → [h : Decidable p] → p → Eq (decide p) true
  | _, .isTrue _, _ => rfl
  | _, .isFalse h, k => absurd k h
def Bool.holds (b : Bool) : Prop := match b with
  | true => True
  | false => False
theorem of_decide_eq_true : {p : Prop} → [h : Decidable p] → Eq (decide p) true → p
  | _, .isTrue h, _ => h
  | _, .isFalse _, k => (Eq.subst (motive := Bool.holds) k.symm True.intro : False).elim
axiom Classical.propDecidable (p : Prop) : Decidable p
axiom funext {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : (x : α) → Eq (f x) (g x)) : Eq f g
axiom propext {a b : Prop} (h : Iff a b) : Eq a b
axiom Classical.em (p : Prop) : Or p (Not p)
axiom sorryAx (α : Sort u) (synthetic : Bool) : α

/-! ## Mathlib -/
axiom Real : Type
axiom Real.instAdd : Add Real
axiom Real.instMul : Mul Real
axiom Real.instNeg : Neg Real
axiom Real.instSub : Sub Real
axiom Real.instLE : LE Real
axiom Real.instLT : LT Real
axiom Real.instInv : Inv Real
axiom Real.instDiv : Div Real
axiom Real.instPow : HPow Real Nat Real
axiom Real.instNumeral (n : Nat) : OfNat Real n
attribute [instance] Real.instAdd Real.instMul Real.instNeg Real.instSub Real.instLE Real.instLT Real.instInv Real.instDiv Real.instPow Real.instNumeral
axiom Nat.cast : Nat → Real
axiom Int.cast : Int → Real
axiom Real.exp : Real → Real
axiom Real.sqrt : Real → Real
axiom add_assoc (a b c : Real) : a + b + c = a + (b + c)
axiom add_comm (a b : Real) : a + b = b + a
axiom add_zero (a : Real) : a + 0 = a
axiom add_neg_cancel (a : Real) : a + -a = 0
axiom mul_assoc (a b c : Real) : a * b * c = a * (b * c)
axiom mul_comm (a b : Real) : a * b = b * a
axiom mul_one (a : Real) : a * 1 = a
axiom mul_add (a b c : Real) : a * (b + c) = a * b + a * c
axiom mul_inv_cancel₀ {a : Real} (h : a ≠ 0) : a * a⁻¹ = 1
axiom zero_ne_one : (0 : Real) ≠ 1
axiom le_refl (a : Real) : a ≤ a
axiom le_trans {a b c : Real} : a ≤ b → b ≤ c → a ≤ c
axiom le_antisymm {a b : Real} : a ≤ b → b ≤ a → a = b
axiom le_total (a b : Real) : a ≤ b ∨ b ≤ a
axiom not_le {a b : Real} : ¬ a ≤ b ↔ b < a
axiom add_le_add {a b c d : Real} (h : a ≤ b) (k : c ≤ d) : a + c ≤ b + d
axiom mul_nonneg {a b : Real} : 0 ≤ a → 0 ≤ b → 0 ≤ a * b
axiom inv_nonneg {a : Real} : 0 ≤ a⁻¹ ↔ 0 ≤ a
axiom sub_eq_add_neg (a b : Real) : a - b = a + -b
axiom div_eq_mul_inv (a b : Real) : a / b = a * b⁻¹
axiom Real.exp_add (x y : Real) : Real.exp (x + y) = Real.exp x * Real.exp y
axiom Real.add_one_le_exp (x : Real) : x + 1 ≤ Real.exp x
axiom Real.sqrt_nonneg (x : Real) : 0 ≤ Real.sqrt x

class AddCommMonoid (M : Type) extends Add M where
  zero : M
noncomputable instance : AddCommMonoid Real where
  toAdd := Real.instAdd
  zero := 0
instance : AddCommMonoid Nat where
  toAdd := instAddNat
  zero := 0
axiom Finset : Type → Type
axiom Finset.range : Nat → Finset Nat
axiom Finset.sum {ι M : Type} [AddCommMonoid M] (s : Finset ι) (f : ι → M) : M
axiom Finset.sum_range_zero {M : Type} [A : AddCommMonoid M] (f : Nat → M) : (Finset.range 0).sum f = A.zero
axiom Finset.sum_range_succ {M : Type} [AddCommMonoid M] (f : Nat → M) (n : Nat) :
  (Finset.range (n + 1)).sum f = (Finset.range n).sum f + f n
