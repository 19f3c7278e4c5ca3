import CompactProofs.Order
import CompactProofs.Naturals
/-!
# Finite sums

`sum n f` is `f 0 + ... + f (n - 1)`; read `sum n fun i => ...` as a sigma over `i < n`.
-/
namespace CompactProofs
noncomputable section
variable {F : Type} [ExpField F]

def sum : Nat → (Nat → F) → F
  | .zero, _ => 0
  | .succ n, f => sum n f + f n

/-- The natural number `n` as an element of the field. -/
def cast (n : Nat) : F := sum n (fun _ => 1)

theorem sum_congr : {n : Nat} → {f g : Nat → F} → (∀ i, i < n → f i = g i) → sum n f = sum n g
  | .zero, _, _, _ => rfl
  | .succ n, f, g, h =>
    add_congr (sum_congr (n := n) (fun i hi => h i (lt_succ_of_lt hi))) (h n (lt_succ_self n))
theorem sum_add : (n : Nat) → (f g : Nat → F) → sum n (fun i => f i + g i) = sum n f + sum n g
  | .zero, _, _ => (add_zero 0).symm
  | .succ n, f, g => (add_congr (sum_add n f g) rfl).trans (add_add_add_comm _ _ _ _)
theorem sum_sub : (n : Nat) → (f g : Nat → F) → sum n (fun i => f i - g i) = sum n f - sum n g
  | .zero, _, _ => show (0 : F) = 0 - 0 from ring []
  | .succ n, f, g => (add_congr (sum_sub n f g) rfl).trans
      (show (sum n f - sum n g) + (f n - g n) = (sum n f + f n) - (sum n g + g n) from
        ring (sum n f :: sum n g :: f n :: g n :: []))
theorem sum_mul_left : (n : Nat) → (c : F) → (f : Nat → F) → sum n (fun i => c * f i) = c * sum n f
  | .zero, c, _ => (mul_zero c).symm
  | .succ n, c, f => (add_congr (sum_mul_left n c f) rfl).trans (mul_add _ _ _).symm
theorem sum_mul_right (n : Nat) (c : F) (f : Nat → F) : sum n (fun i => f i * c) = sum n f * c :=
  calc sum n (fun i => f i * c) = sum n (fun i => c * f i) := sum_congr (fun i _ => mul_comm (f i) c)
    _ = c * sum n f := sum_mul_left n c f
    _ = sum n f * c := mul_comm _ _
theorem sum_zero : (n : Nat) → sum n (fun _ => (0 : F)) = 0
  | .zero => rfl
  | .succ n => (add_congr (sum_zero n) rfl).trans (add_zero 0)
theorem sum_const (n : Nat) (c : F) : sum n (fun _ => c) = c * cast n :=
  calc sum n (fun _ => c) = sum n (fun _ => c * 1) := sum_congr (fun _ _ => (mul_one c).symm)
    _ = c * cast n := sum_mul_left n c _
theorem sum_swap : (n m : Nat) → (f : Nat → Nat → F) →
    sum n (fun i => sum m (fun j => f i j)) = sum m (fun j => sum n (fun i => f i j))
  | .zero, m, _ => (sum_zero m).symm
  | .succ n, m, f => (add_congr (sum_swap n m f) rfl).trans (sum_add m _ _).symm
theorem sum_le : {n : Nat} → {f g : Nat → F} → (∀ i, i < n → f i ≤ g i) → sum n f ≤ sum n g
  | .zero, _, _, _ => le_refl 0
  | .succ n, f, g, h =>
    add_le_add (sum_le (n := n) (fun i hi => h i (lt_succ_of_lt hi))) (h n (lt_succ_self n))
theorem sum_nonneg {n : Nat} {f : Nat → F} (h : ∀ i, i < n → 0 ≤ f i) : 0 ≤ sum n f :=
  calc 0 = sum n (fun _ => (0 : F)) := (sum_zero n).symm
    _ ≤ sum n f := sum_le h
theorem sum_pos {n : Nat} {f : Nat → F} (h : ∀ i, i < Nat.succ n → 0 < f i) : 0 < sum (Nat.succ n) f :=
  add_pos' (sum_nonneg (fun i hi => le_of_lt (h i (lt_succ_of_lt hi)))) (h n (lt_succ_self n))
/-- One term of a sum of nonnegative terms is at most the sum. -/
theorem term_le_sum : {n : Nat} → {f : Nat → F} → (∀ i, i < n → 0 ≤ f i) → (i : Nat) → i < n → f i ≤ sum n f
  | .zero, _, _, _, hi => (not_lt_zero hi).elim
  | .succ n, f, h, i, hi =>
    have hs : ∀ i, i < n → 0 ≤ f i := fun i hi => h i (lt_succ_of_lt hi)
    match lt_or_eq_of_lt_succ hi with
    | .inr e => Eq.subst (motive := fun i => f i ≤ sum n f + f n) e.symm (le_of (sum_nonneg hs) (ring (f n :: sum n f :: [])))
    | .inl hi => calc f i ≤ sum n f := term_le_sum hs i hi
        _ ≤ sum n f + f n := le_of (h n (lt_succ_self n)) (ring (f n :: sum n f :: []))
/-- Two different terms of a sum of nonnegative terms are together at most the sum. -/
theorem two_terms_le_sum : {n : Nat} → {f : Nat → F} → (∀ i, i < n → 0 ≤ f i) → (i j : Nat) → i < n → j < n → i ≠ j →
    f i + f j ≤ sum n f
  | .zero, _, _, _, _, hi, _, _ => (not_lt_zero hi).elim
  | .succ n, f, h, i, j, hi, hj, ne =>
    have hs : ∀ i, i < n → 0 ≤ f i := fun i hi => h i (lt_succ_of_lt hi)
    match lt_or_eq_of_lt_succ hi, lt_or_eq_of_lt_succ hj with
    | .inr e, .inr e' => absurd (e.trans e'.symm) ne
    | .inr e, .inl hj => Eq.subst (motive := fun i => f i + f j ≤ sum n f + f n) e.symm
        (calc f n + f j = f j + f n := add_comm _ _
          _ ≤ sum n f + f n := add_le_add_right (term_le_sum hs j hj) _)
    | .inl hi, .inr e => Eq.subst (motive := fun j => f i + f j ≤ sum n f + f n) e.symm
        (add_le_add_right (term_le_sum hs i hi) _)
    | .inl hi, .inl hj => calc f i + f j ≤ sum n f := two_terms_le_sum hs i j hi hj ne
        _ ≤ sum n f + f n := le_of (h n (lt_succ_self n)) (ring (f n :: sum n f :: []))
end
end CompactProofs
