import CompactProofs.Margins
import CompactProofs.Counting
/-!
# From facts to accuracy: rules `enumerate`, `disjoint_union`, `conclude`

`correct` stands for the indicator of the sequences on which the model is right. Lower bounds need only one direction of it.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-! ## The task -/
def maxNat (a b : Nat) : Nat := match Nat.ble a b with
  | true => b
  | false => a
/-- The largest of the first `n` tokens (0 when there are none). -/
def maxBelow : Nat → (Nat → Nat) → Nat
  | .zero, _ => 0
  | .succ n, t => maxNat (maxBelow n t) (t n)
/-- The right answer on `t 0, ..., t n`: the largest token. -/
def label (n : Nat) (t : Nat → Nat) : Nat := maxBelow (Nat.succ n) t

theorem maxNat_left (a b : Nat) : a ≤ maxNat a b := match bool_cases (Nat.ble a b) with
  | .inl h => replace h (fun c => a ≤ (match c with | true => b | false => a)) (ble_le h)
  | .inr h => replace h (fun c => a ≤ (match c with | true => b | false => a)) (nat_le_refl a)
theorem maxNat_right (a b : Nat) : b ≤ maxNat a b := match bool_cases (Nat.ble a b) with
  | .inl h => replace h (fun c => b ≤ (match c with | true => b | false => a)) (nat_le_refl b)
  | .inr h => replace h (fun c => b ≤ (match c with | true => b | false => a))
      ((nat_lt_or_le b a).elim nat_le_of_lt (fun k => absurd ((le_ble k).symm.trans h) true_ne_false))
theorem maxNat_le {a b c : Nat} (h : a ≤ c) (k : b ≤ c) : maxNat a b ≤ c := match bool_cases (Nat.ble a b) with
  | .inl e => replace e (fun x => (match x with | true => b | false => a) ≤ c) k
  | .inr e => replace e (fun x => (match x with | true => b | false => a) ≤ c) h
theorem le_maxBelow : (n : Nat) → (t : Nat → Nat) → (i : Nat) → i < n → t i ≤ maxBelow n t
  | .zero, _, _, h => (not_lt_zero h).elim
  | .succ n, t, i, h => (lt_or_eq_of_lt_succ h).elim
      (fun k => nat_le_trans (le_maxBelow n t i k) (maxNat_left _ _))
      (fun e => replace e (fun i => t i ≤ maxNat (maxBelow n t) (t n)) (maxNat_right _ _))
theorem maxBelow_le {m : Nat} : {n : Nat} → {t : Nat → Nat} → (∀ i, i < n → t i ≤ m) → maxBelow n t ≤ m
  | .zero, _, _ => nat_zero_le m
  | .succ n, _, h => maxNat_le (maxBelow_le (n := n) (fun i hi => h i (lt_succ_of_lt hi))) (h n (lt_succ_self n))
/-- The label is `m` when no token exceeds `m` and one of them is `m`. -/
theorem label_eq {n m : Nat} {t : Nat → Nat} (h : ∀ i, i < Nat.succ n → t i ≤ m) (i : Nat) (hi : i < Nat.succ n) (e : t i = m) : label n t = m :=
  nat_le_antisymm (maxBelow_le h) (replace e.symm (fun m => m ≤ label n t) (le_maxBelow (Nat.succ n) t i hi))
theorem le_label {n : Nat} {t : Nat → Nat} (i : Nat) (hi : i < Nat.succ n) : t i ≤ label n t := le_maxBelow (Nat.succ n) t i hi

/-- `correct` holds on every sequence of tokens below `v` on which the model gives the largest token the strictly largest logit. -/
def Certifies (C : Circuits F) (v n : Nat) (correct : (Nat → Nat) → Bool) : Prop :=
  ∀ t, (∀ i, i < Nat.succ n → t i < v) → C.Correct v n t (label n t) → correct t = true
/-- `correct` holds only on such sequences. -/
def Refutes (C : Circuits F) (v n : Nat) (correct : (Nat → Nat) → Bool) : Prop :=
  ∀ t, (∀ i, i < Nat.succ n → t i < v) → correct t = true → C.Correct v n t (label n t)

/-! ## Enumeration -/

/-- **Rule `enumerate`, one sequence.** With approximate sums `A o` of the margins and a radius `R`: certainly right if every `A o < -R`, certainly wrong if some `A o ≥ R`. -/
theorem Rule.enumerate.sequence (C : Circuits F) (v n : Nat) (t : Nat → Nat) (m : Nat) (g : Nat → F) (w : Nat → Nat → F) (hg : ∀ o, 0 < g o)
    (hw : ∀ o i, i < Nat.succ n → C.weight (t n) i (t i) = g o * w o i) (a e : Nat → Nat → F) (R : F)
    (ha : ∀ o i, i < Nat.succ n → w o i * C.term (t n) i (t i) o m - a o i ≤ e o i ∧ a o i - w o i * C.term (t n) i (t i) o m ≤ e o i)
    (hR : ∀ o, sum (Nat.succ n) (e o) ≤ R) :
    ((∀ o, o < v → o ≠ m → sum (Nat.succ n) (a o) < -R) → C.Correct v n t m) ∧
    (∀ o, o < v → o ≠ m → R ≤ sum (Nat.succ n) (a o) → ¬ C.Correct v n t m) :=
  have key := C.correct_iff v n t m g w hg hw
  ⟨fun h => key.mpr (fun o ho hne => (Rule.margins.radius (Nat.succ n) _ (a o) (e o) R (ha o) (hR o)).left (h o ho hne)),
   fun o ho hne hA hc => (key.mp hc o ho hne) ((Rule.margins.radius (Nat.succ n) _ (a o) (e o) R (ha o) (hR o)).right hA)⟩

/-- **Rule `enumerate`** (brute force). If `right` marks only sequences found certainly right, their number is a lower bound of the number of right sequences, and if `wrong` marks only
sequences found certainly wrong, the number of right sequences is at most all the others. -/
theorem Rule.enumerate (C : Circuits F) (v n : Nat) (correct right wrong : (Nat → Nat) → Bool) (t₀ : Nat → Nat)
    (hr : ∀ t, (∀ i, i < Nat.succ n → t i < v) → right t = true → C.Correct v n t (label n t))
    (hw : ∀ t, (∀ i, i < Nat.succ n → t i < v) → wrong t = true → ¬ C.Correct v n t (label n t)) :
    (Certifies C v n correct → count v (Nat.succ n) right t₀ ≤ count v (Nat.succ n) correct t₀) ∧
    (Refutes C v n correct → count v (Nat.succ n) correct t₀ + count v (Nat.succ n) wrong t₀ ≤ pow v (Nat.succ n)) :=
  ⟨fun hc => count_le (fun s hs h => hc s hs.left (hr s hs.left h)),
   fun hc => nat_le_trans
     (nat_add_le_add (nat_le_refl _) (count_le (q := fun s => not (correct s)) (fun s hs h =>
       replace (eq_false_of_ne_true (fun k => hw s hs.left h (hc s hs.left k))) (fun b => not b = true) rfl)))
     (replace (count_not v (Nat.succ n) correct t₀) (fun x => x ≤ pow v (Nat.succ n)) (nat_le_refl _))⟩

/-! ## Disjoint regions -/

/-- Holds for every element of a list. -/
def Every {α : Type} (P : α → Prop) : List α → Prop
  | [] => True
  | x :: l => P x ∧ Every P l
/-- Regions of sequences, each with a number; no sequence lies in two of them. -/
def Disjoint : List (((Nat → Nat) → Bool) × Nat) → Prop
  | [] => True
  | ⟨r, _⟩ :: l => (∀ s, r s = true → Every (fun x => x.fst s = false) l) ∧ Disjoint l
def totalOf : List (((Nat → Nat) → Bool) × Nat) → Nat
  | [] => 0
  | ⟨_, c⟩ :: l => c + totalOf l
def anyOf : List (((Nat → Nat) → Bool) × Nat) → (Nat → Nat) → Bool
  | [], _ => false
  | ⟨r, _⟩ :: l, s => either (r s) (anyOf l s)

theorem anyOf_false : (l : List (((Nat → Nat) → Bool) × Nat)) → (s : Nat → Nat) → Every (fun x => x.fst s = false) l → anyOf l s = false
  | [], _, _ => rfl
  | ⟨r, _⟩ :: l, s, h => replace h.left (fun b => either b (anyOf l s) = false) (anyOf_false l s h.right)
theorem disjoint_total (v n : Nat) (correct : (Nat → Nat) → Bool) (t : Nat → Nat) : (l : List (((Nat → Nat) → Bool) × Nat)) →
    Disjoint l → Every (fun x => x.snd ≤ count v n (fun s => both (x.fst s) (correct s)) t) l →
    totalOf l ≤ count v n (fun s => both (anyOf l s) (correct s)) t
  | [], _, _ => nat_zero_le _
  | ⟨r, c⟩ :: l, hd, h =>
    nat_le_trans (nat_add_le_add h.left (disjoint_total v n correct t l hd.right h.right))
      (count_disjoint
        (fun s k => both_intro (replace (both_left k) (fun b => either b (anyOf l s) = true) rfl) (both_right k))
        (fun s k => both_intro
          (match bool_cases (r s) with
            | .inl e => replace e (fun b => either b (anyOf l s) = true) rfl
            | .inr e => replace e (fun b => either b (anyOf l s) = true) (both_left k)) (both_right k))
        (fun s k => replace (anyOf_false l s (hd.left s (both_left k))) (fun b => both b (correct s) = false) rfl))

/-- **Rule `disjoint_union`.** Counts of right sequences in disjoint regions add up. -/
theorem Rule.disjoint_union (v n : Nat) (correct : (Nat → Nat) → Bool) (t : Nat → Nat) (l : List (((Nat → Nat) → Bool) × Nat))
    (hd : Disjoint l) (h : Every (fun x => x.snd ≤ count v n (fun s => both (x.fst s) (correct s)) t) l) :
    totalOf l ≤ count v n correct t :=
  nat_le_trans (disjoint_total v n correct t l hd h) (count_le (fun _ _ k => both_right k))

/-! ## The claim -/

theorem cast_add (a : Nat) : (b : Nat) → cast (F := F) (a + b) = cast a + cast b
  | .zero => (add_zero _).symm
  | .succ b => (add_congr (cast_add a b) rfl).trans (add_assoc _ _ _)
theorem cast_mul (a : Nat) : (b : Nat) → cast (F := F) (a * b) = cast a * cast b
  | .zero => (mul_zero _).symm
  | .succ b => (cast_add (a * b) a).trans ((add_congr (cast_mul a b) (mul_one (cast a)).symm).trans (mul_add _ _ _).symm)
theorem cast_nonneg (a : Nat) : (0 : F) ≤ cast a := sum_nonneg (fun _ _ => zero_le_one)
theorem cast_le {a b : Nat} (h : a ≤ b) : cast (F := F) a ≤ cast b :=
  Nat.le.rec (n := a) (motive := fun m _ => cast (F := F) a ≤ cast m) (le_refl _)
    (fun {m} _ ih => le_trans ih (show cast (F := F) m ≤ cast m + 1 from le_of zero_le_one (ring (cast m :: [])))) h
theorem cast_pos (a : Nat) : (0 : F) < cast (Nat.succ a) := add_pos' (cast_nonneg a) zero_lt_one

/-- The accuracy: the share of right sequences among all. -/
def accuracy (v n : Nat) (correct : (Nat → Nat) → Bool) (t₀ : Nat → Nat) : F :=
  cast (count v n correct t₀) / cast (pow v n)

theorem div_le_div {a b c d : F} (hb : 0 < b) (hd : 0 < d) (h : a * d ≤ c * b) : a / b ≤ c / d :=
  le_of_mul_le_mul (mul_pos hb hd)
    (calc (b * d) * (a / b) = (b * (a / b)) * d := ring (b :: d :: a / b :: [])
      _ = a * d := mul_congr (div_mul hb) rfl
      _ ≤ c * b := h
      _ = (d * (c / d)) * b := mul_congr (div_mul hd).symm rfl
      _ = (b * d) * (c / d) := ring (b :: d :: c / d :: []))
theorem pow_succ_pos (v : Nat) : (n : Nat) → 0 < pow (Nat.succ v) n
  | .zero => lt_succ_self 0
  | .succ n => nat_lt_of_lt_of_le (pow_succ_pos v n)
      (nat_le_trans (nat_le_add_right (pow (Nat.succ v) n) (v * pow (Nat.succ v) n))
        (replace (nat_add_comm (pow (Nat.succ v) n) (v * pow (Nat.succ v) n)) (fun x => x ≤ Nat.succ v * pow (Nat.succ v) n)
          (replace (nat_succ_mul v (pow (Nat.succ v) n)) (fun x => v * pow (Nat.succ v) n + pow (Nat.succ v) n ≤ x) (nat_le_refl _))))
theorem cast_pos_of {a : Nat} (h : 0 < a) : (0 : F) < cast a := match a, h with
  | .zero, h => (not_lt_zero h).elim
  | .succ a, _ => cast_pos a

/-- **Rule `conclude`.** If `N` sequences are proved right, the accuracy is at least `N / v^k`, and at least every fraction `P / Q` with `P v^k ≤ N Q`. -/
theorem Rule.conclude (v k N P Q : Nat) (correct : (Nat → Nat) → Bool) (t₀ : Nat → Nat) (h : N ≤ count (Nat.succ v) k correct t₀)
    (hQ : 0 < Q) (hP : P * pow (Nat.succ v) k ≤ N * Q) :
    cast (F := F) N / cast (pow (Nat.succ v) k) ≤ accuracy (Nat.succ v) k correct t₀ ∧
    cast (F := F) P / cast Q ≤ accuracy (Nat.succ v) k correct t₀ :=
  have total : (0 : F) < cast (pow (Nat.succ v) k) := cast_pos_of (pow_succ_pos v k)
  have first : cast (F := F) N / cast (pow (Nat.succ v) k) ≤ accuracy (Nat.succ v) k correct t₀ := mul_le_mul_right (cast_le h) (inv_nonneg total)
  ⟨first,
   le_trans (div_le_div (cast_pos_of hQ) total
     (calc cast (F := F) P * cast (pow (Nat.succ v) k) = cast (P * pow (Nat.succ v) k) := (cast_mul _ _).symm
       _ ≤ cast (N * Q) := cast_le hP
       _ = cast N * cast Q := cast_mul _ _)) first⟩

/-- **Rule `conclude`, from above.** If `W` sequences are proved wrong, the accuracy is at most `P / Q` as soon as `v^k Q ≤ W Q + P v^k`. -/
theorem Rule.conclude.upper (v k W P Q : Nat) (correct : (Nat → Nat) → Bool) (t₀ : Nat → Nat)
    (h : count (Nat.succ v) k correct t₀ + W ≤ pow (Nat.succ v) k) (hQ : 0 < Q) (hP : pow (Nat.succ v) k * Q ≤ W * Q + P * pow (Nat.succ v) k) :
    accuracy (F := F) (Nat.succ v) k correct t₀ ≤ cast P / cast Q :=
  let c := count (Nat.succ v) k correct t₀
  let N := pow (Nat.succ v) k
  have nat : c * Q ≤ P * N :=
    nat_le_of_add_le_add_right (W * Q)
      (nat_le_trans (replace (nat_add_mul c W Q).symm (fun x => x ≤ N * Q) (nat_mul_le_mul_right h Q))
        (replace (nat_add_comm (P * N) (W * Q)) (fun x => N * Q ≤ x) hP))
  div_le_div (cast_pos_of (pow_succ_pos v k)) (cast_pos_of hQ)
    (calc cast (F := F) c * cast Q = cast (c * Q) := (cast_mul _ _).symm
      _ ≤ cast (P * N) := cast_le nat
      _ = cast P * cast N := cast_mul _ _)
end
end CompactProofs
