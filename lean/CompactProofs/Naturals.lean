/-!
# Natural numbers

The facts about `Nat` that the counting rules need, proved from the definitions (so that they read the same with and without Lean's own library).
-/
namespace CompactProofs

/-- To prove `P a` when `a = b`, prove `P b`. -/
theorem replace {α : Type} {a b : α} (h : a = b) (P : α → Prop) (k : P b) : P a := Eq.subst (motive := P) h.symm k

/-- `n` is a successor. -/
def IsSucc : Nat → Prop
  | .zero => False
  | .succ _ => True
theorem not_lt_zero {i : Nat} (h : i < 0) : False :=
  Nat.le.rec (n := Nat.succ i) (motive := fun m _ => IsSucc m) (show IsSucc (Nat.succ i) from True.intro) (fun _ _ => True.intro) h
theorem not_succ_le_zero {i : Nat} (h : Nat.succ i ≤ 0) : False := not_lt_zero h

def LtOrEqPred (i : Nat) : Nat → Prop
  | .zero => True
  | .succ n => i < n ∨ i = n
theorem lt_or_eq_of_lt_succ {i n : Nat} (h : i < Nat.succ n) : i < n ∨ i = n :=
  Nat.le.rec (n := Nat.succ i) (motive := fun m _ => LtOrEqPred i m) (show i < i ∨ i = i from .inr rfl)
    (fun {m} h _ => show i < m ∨ i = m from .inl h) h
theorem lt_succ_self (n : Nat) : n < Nat.succ n := Nat.le.refl
theorem lt_succ_of_lt {i n : Nat} (h : i < n) : i < Nat.succ n := Nat.le.step h

theorem nat_le_refl (n : Nat) : n ≤ n := Nat.le.refl
theorem nat_le_trans {a b c : Nat} (h : a ≤ b) (k : b ≤ c) : a ≤ c :=
  Nat.le.rec (motive := fun m _ => a ≤ m) h (fun _ ih => .step ih) k
theorem nat_zero_le : (n : Nat) → 0 ≤ n
  | .zero => .refl
  | .succ n => .step (nat_zero_le n)
theorem succ_le_succ {a b : Nat} (h : a ≤ b) : Nat.succ a ≤ Nat.succ b :=
  Nat.le.rec (motive := fun m _ => Nat.succ a ≤ Nat.succ m) .refl (fun _ ih => .step ih) h
theorem le_of_succ_le_succ {a b : Nat} (h : Nat.succ a ≤ Nat.succ b) : a ≤ b :=
  (lt_or_eq_of_lt_succ h).elim (fun k => nat_le_trans (.step .refl) k) (fun e => e.rec .refl)
theorem le_of_lt_succ {a b : Nat} (h : a < Nat.succ b) : a ≤ b := le_of_succ_le_succ h
theorem nat_lt_irrefl : (n : Nat) → n < n → False
  | .zero, h => not_lt_zero h
  | .succ n, h => nat_lt_irrefl n (le_of_succ_le_succ h)
theorem nat_lt_of_lt_of_le {a b c : Nat} (h : a < b) (k : b ≤ c) : a < c := nat_le_trans h k
theorem nat_lt_of_le_of_lt {a b c : Nat} (h : a ≤ b) (k : b < c) : a < c := nat_le_trans (succ_le_succ h) k
theorem nat_le_of_lt {a b : Nat} (h : a < b) : a ≤ b := nat_le_trans (.step .refl) h
theorem nat_ne_of_lt {a b : Nat} (h : a < b) (e : a = b) : False :=
  nat_lt_irrefl b (e.rec (motive := fun x _ => a < x → b < b) (fun h => e.rec (motive := fun x _ => x < x) h) h)
theorem nat_le_antisymm {a b : Nat} (h : a ≤ b) (k : b ≤ a) : a = b :=
  (lt_or_eq_of_lt_succ (succ_le_succ h)).elim (fun l => absurd (nat_lt_of_lt_of_le l k) (nat_lt_irrefl a)) id
theorem nat_lt_or_le : (a b : Nat) → a < b ∨ b ≤ a
  | a, .zero => .inr (nat_zero_le a)
  | .zero, .succ b => .inl (succ_le_succ (nat_zero_le b))
  | .succ a, .succ b => (nat_lt_or_le a b).elim (fun h => .inl (succ_le_succ h)) (fun h => .inr (succ_le_succ h))

/-! ## Addition and multiplication -/
theorem nat_zero_add : (a : Nat) → 0 + a = a
  | .zero => rfl
  | .succ a => congrArg Nat.succ (nat_zero_add a)
theorem nat_succ_add (a : Nat) : (b : Nat) → Nat.succ a + b = Nat.succ (a + b)
  | .zero => rfl
  | .succ b => congrArg Nat.succ (nat_succ_add a b)
theorem nat_add_comm (a : Nat) : (b : Nat) → a + b = b + a
  | .zero => (nat_zero_add a).symm
  | .succ b => (congrArg Nat.succ (nat_add_comm a b)).trans (nat_succ_add b a).symm
theorem nat_add_assoc (a b : Nat) : (c : Nat) → (a + b) + c = a + (b + c)
  | .zero => rfl
  | .succ c => congrArg Nat.succ (nat_add_assoc a b c)
theorem nat_add_congr {a b c d : Nat} (h : a = b) (k : c = d) : a + c = b + d := h.rec (k.rec rfl)
theorem nat_mul_congr {a b c d : Nat} (h : a = b) (k : c = d) : a * c = b * d := h.rec (k.rec rfl)
theorem nat_add_add_add_comm (a b c d : Nat) : (a + b) + (c + d) = (a + c) + (b + d) :=
  calc (a + b) + (c + d) = a + (b + (c + d)) := nat_add_assoc a b (c + d)
    _ = a + ((b + c) + d) := nat_add_congr rfl (nat_add_assoc b c d).symm
    _ = a + ((c + b) + d) := nat_add_congr rfl (nat_add_congr (nat_add_comm b c) rfl)
    _ = a + (c + (b + d)) := nat_add_congr rfl (nat_add_assoc c b d)
    _ = (a + c) + (b + d) := (nat_add_assoc a c (b + d)).symm
theorem nat_zero_mul : (a : Nat) → 0 * a = 0
  | .zero => rfl
  | .succ a => nat_zero_mul a
theorem nat_add_mul (a b : Nat) : (c : Nat) → (a + b) * c = a * c + b * c
  | .zero => rfl
  | .succ c => (nat_add_congr (nat_add_mul a b c) rfl).trans (nat_add_add_add_comm (a * c) (b * c) a b)
theorem nat_mul_add (a b : Nat) : (c : Nat) → a * (b + c) = a * b + a * c
  | .zero => rfl
  | .succ c => (nat_add_congr (nat_mul_add a b c) rfl).trans (nat_add_assoc (a * b) (a * c) a)
theorem nat_succ_mul (a : Nat) : (b : Nat) → Nat.succ a * b = a * b + b
  | .zero => rfl
  | .succ b => congrArg Nat.succ ((nat_add_congr (nat_succ_mul a b) rfl).trans
      ((nat_add_assoc (a * b) b a).trans ((nat_add_congr rfl (nat_add_comm b a)).trans (nat_add_assoc (a * b) a b).symm)))
theorem nat_mul_comm (a : Nat) : (b : Nat) → a * b = b * a
  | .zero => (nat_zero_mul a).symm
  | .succ b => (nat_add_congr (nat_mul_comm a b) rfl).trans (nat_succ_mul b a).symm
theorem nat_mul_assoc (a b : Nat) : (c : Nat) → (a * b) * c = a * (b * c)
  | .zero => rfl
  | .succ c => (nat_add_congr (nat_mul_assoc a b c) rfl).trans (nat_mul_add a (b * c) b).symm
theorem nat_one_mul (a : Nat) : 1 * a = a := (nat_mul_comm 1 a).trans (nat_zero_add a)

theorem nat_le_add_right (a : Nat) : (b : Nat) → a ≤ a + b
  | .zero => .refl
  | .succ b => .step (nat_le_add_right a b)
theorem nat_add_le_add_right {a b : Nat} (h : a ≤ b) : (c : Nat) → a + c ≤ b + c
  | .zero => h
  | .succ c => succ_le_succ (nat_add_le_add_right h c)
theorem nat_add_le_add {a b c d : Nat} (h : a ≤ b) (k : c ≤ d) : a + c ≤ b + d :=
  nat_le_trans (nat_add_le_add_right h c)
    (Nat.le.rec (motive := fun m _ => b + c ≤ b + m) .refl (fun _ ih => .step ih) k)
theorem nat_mul_le_mul_right {a b : Nat} (h : a ≤ b) : (c : Nat) → a * c ≤ b * c
  | .zero => .refl
  | .succ c => nat_add_le_add (nat_mul_le_mul_right h c) h
theorem nat_mul_le_mul_left {a b : Nat} (h : a ≤ b) (c : Nat) : c * a ≤ c * b :=
  Nat.le.rec (motive := fun m _ => c * a ≤ c * m) .refl (fun _ ih => nat_le_trans ih (nat_le_add_right _ c)) h
theorem nat_le_of_add_le_add_right {a b : Nat} : (c : Nat) → a + c ≤ b + c → a ≤ b
  | .zero, h => h
  | .succ c, h => nat_le_of_add_le_add_right c (le_of_succ_le_succ h)

/-! ## Truncated subtraction -/
theorem nat_pred_le_iff {a b : Nat} (h : a ≤ Nat.succ b) : Nat.pred a ≤ b := match a, h with
  | .zero, _ => nat_zero_le b
  | .succ _, h => le_of_succ_le_succ h
theorem nat_le_succ_of_pred_le {a b : Nat} (h : Nat.pred a ≤ b) : a ≤ Nat.succ b := match a, h with
  | .zero, _ => nat_zero_le _
  | .succ _, h => succ_le_succ h
/-- `a - b ≤ c` iff `a ≤ c + b`. -/
theorem sub_le_of_le_add {a : Nat} : (b c : Nat) → a ≤ c + b → a - b ≤ c
  | .zero, _, h => h
  | .succ b, c, h => nat_pred_le_iff (sub_le_of_le_add b (Nat.succ c) (nat_le_trans h (Eq.subst (motive := fun x => Nat.succ (c + b) ≤ x) (nat_succ_add c b).symm .refl)))
theorem le_add_of_sub_le {a : Nat} : (b c : Nat) → a - b ≤ c → a ≤ c + b
  | .zero, _, h => h
  | .succ b, c, h => nat_le_trans (le_add_of_sub_le b (Nat.succ c) (nat_le_succ_of_pred_le h)) (Eq.subst (motive := fun x => x ≤ Nat.succ (c + b)) (nat_succ_add c b).symm .refl)

theorem pred_le_pred {a b : Nat} (h : a ≤ b) : Nat.pred a ≤ Nat.pred b := match a, b, h with
  | .zero, _, _ => nat_zero_le _
  | .succ _, .zero, h => (not_succ_le_zero h).elim
  | .succ _, .succ _, h => le_of_succ_le_succ h
theorem le_sub_of_add_le {a b : Nat} : (c : Nat) → a + c ≤ b → a ≤ b - c
  | .zero, h => h
  | .succ c, h => pred_le_pred (le_sub_of_add_le (a := Nat.succ a) c (replace (nat_succ_add a c) (fun x => x ≤ b) h))
theorem sub_le (a : Nat) : (c : Nat) → a - c ≤ a
  | .zero => nat_le_refl a
  | .succ c => nat_le_trans (pred_le_self (a - c)) (sub_le a c)
where
  pred_le_self : (a : Nat) → Nat.pred a ≤ a
    | .zero => nat_le_refl 0
    | .succ a => nat_le_trans (nat_le_add_right a 1) (nat_le_refl _)

/-! ## Truth values -/
def IsTrue : Bool → Prop
  | true => True
  | false => False
theorem true_ne_false (h : true = false) : False :=
  Eq.subst (motive := IsTrue) h (show IsTrue true from True.intro)
theorem eq_false_of_ne_true : {b : Bool} → (b = true → False) → b = false
  | true, h => absurd rfl h
  | false, _ => rfl
theorem bool_cases (b : Bool) : b = true ∨ b = false := match b with
  | true => .inl rfl
  | false => .inr rfl
/-- Conjunction of truth values. -/
def both : Bool → Bool → Bool
  | true, b => b
  | false, _ => false
/-- Disjunction of truth values. -/
def either : Bool → Bool → Bool
  | true, _ => true
  | false, b => b
/-- Negation of a truth value. -/
def not : Bool → Bool
  | true => false
  | false => true
theorem both_intro {a b : Bool} (h : a = true) (k : b = true) : both a b = true := h.symm.rec (k.symm.rec rfl)
theorem both_left : {a b : Bool} → both a b = true → a = true
  | true, _, _ => rfl
  | false, _, h => h
theorem both_right : {a b : Bool} → both a b = true → b = true
  | true, _, h => h
  | false, _, h => absurd h.symm true_ne_false
theorem either_elim : {a b : Bool} → either a b = true → a = true ∨ b = true
  | true, _, h => .inl h
  | false, _, h => .inr h

theorem beq_eq : {a b : Nat} → Nat.beq a b = true → a = b
  | .zero, .zero, _ => rfl
  | .zero, .succ _, h => absurd h.symm true_ne_false
  | .succ _, .zero, h => absurd h.symm true_ne_false
  | .succ _, .succ _, h => congrArg Nat.succ (beq_eq h)
theorem beq_refl : (a : Nat) → Nat.beq a a = true
  | .zero => rfl
  | .succ a => beq_refl a
theorem beq_of_eq {a b : Nat} (h : a = b) : Nat.beq a b = true := h.rec (beq_refl a)
theorem beq_false {a b : Nat} (h : a ≠ b) : Nat.beq a b = false := eq_false_of_ne_true (fun k => h (beq_eq k))
theorem ne_of_beq_false {a b : Nat} (h : Nat.beq a b = false) (e : a = b) : False := true_ne_false ((beq_of_eq e).symm.trans h)
theorem ble_le : {a b : Nat} → Nat.ble a b = true → a ≤ b
  | .zero, b, _ => nat_zero_le b
  | .succ _, .zero, h => absurd h.symm true_ne_false
  | .succ _, .succ _, h => succ_le_succ (ble_le h)
theorem le_ble : {a b : Nat} → a ≤ b → Nat.ble a b = true
  | .zero, .zero, _ => rfl
  | .zero, .succ _, _ => rfl
  | .succ _, .zero, h => (not_lt_zero h).elim
  | .succ a, .succ b, h => le_ble (a := a) (b := b) (le_of_succ_le_succ h)
/-- `a < b` as a truth value. -/
def blt (a b : Nat) : Bool := Nat.ble (Nat.succ a) b
theorem blt_lt {a b : Nat} (h : blt a b = true) : a < b := ble_le h
theorem lt_blt {a b : Nat} (h : a < b) : blt a b = true := le_ble h
theorem nat_eq_or_ne (a b : Nat) : a = b ∨ a ≠ b := match bool_cases (Nat.beq a b) with
  | .inl h => .inl (beq_eq h)
  | .inr h => .inr (ne_of_beq_false h)
end CompactProofs
