import CompactProofs.Margins
import CompactProofs.Counting
/-!
# From facts to accuracy: rules `enumerate`, `disjoint_union`, `conclude`

`correct` stands for the indicator of the sequences whose margin is above the threshold `r`; "right" below means that. Lower bounds need one
direction of it, upper bounds the other.

All sequences are the fillings of the first `N` places of `t₀` with tokens below `v`. Without an end-of-sequence token `N = n + 1`: the
query is one of the tokens. With one, `N = n` and `t₀ n` is that token.
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
/-- The right answer on `t 0, ..., t n` without an end-of-sequence token: the largest token. With one it is `maxBelow n`. -/
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

/-- `correct` holds on every sequence whose margin is above `r`; `lab t` is the right answer on `t`, `O` the number of outputs. -/
def Certifies (C : Circuits F) (O n : Nat) (r : F) (v N : Nat) (t₀ : Nat → Nat) (lab : (Nat → Nat) → Nat) (correct : (Nat → Nat) → Bool) : Prop :=
  ∀ t, Fills v N t₀ t → C.Correct O n r t (lab t) → correct t = true
/-- `correct` holds only on such sequences. -/
def Refutes (C : Circuits F) (O n : Nat) (r : F) (v N : Nat) (t₀ : Nat → Nat) (lab : (Nat → Nat) → Nat) (correct : (Nat → Nat) → Bool) : Prop :=
  ∀ t, Fills v N t₀ t → correct t = true → C.Correct O n r t (lab t)

/-! ## Enumeration -/

/-- **Rule `enumerate`, one sequence.** With approximate terms `a o i`, off by at most `e o i`, and `R` at least the sum of these errors:
certainly right if every approximate sum is below `-R`, certainly wrong if some one is at least `R`. -/
theorem Rule.enumerate.sequence (C : Circuits F) (O n : Nat) (r : F) (t : Nat → Nat) (m : Nat) (g : Nat → F) (w : Nat → Nat → F) (hg : ∀ o, 0 < g o)
    (hw : ∀ o i, i < Nat.succ n → C.weight (t n) i (t i) = g o * w o i) (a e : Nat → Nat → F) (R : F)
    (ha : ∀ o i, i < Nat.succ n → w o i * C.term r (t n) i (t i) o m - a o i ≤ e o i ∧ a o i - w o i * C.term r (t n) i (t i) o m ≤ e o i)
    (hR : ∀ o, sum (Nat.succ n) (e o) ≤ R) :
    ((∀ o, o < O → o ≠ m → sum (Nat.succ n) (a o) < -R) → C.Correct O n r t m) ∧
    (∀ o, o < O → o ≠ m → R ≤ sum (Nat.succ n) (a o) → ¬ C.Correct O n r t m) :=
  have key := C.correct_iff O n r t m g w hg hw
  ⟨fun h => key.mpr (fun o ho hne => (Rule.margins.radius (Nat.succ n) _ (a o) (e o) R (ha o) (hR o)).left (h o ho hne)),
   fun o ho hne hA hc => (key.mp hc o ho hne) ((Rule.margins.radius (Nat.succ n) _ (a o) (e o) R (ha o) (hR o)).right hA)⟩

/-- **Rule `enumerate`** (brute force, in a region). If `right` marks only sequences of the region found certainly right, and `wrong` only
such found certainly wrong, then their numbers are lower bounds of the numbers of right and of wrong sequences in the region. -/
theorem Rule.enumerate (C : Circuits F) (O n : Nat) (r : F) (v N : Nat) (t₀ : Nat → Nat) (lab : (Nat → Nat) → Nat) (correct region right wrong : (Nat → Nat) → Bool)
    (hc : Certifies C O n r v N t₀ lab correct) (hf : Refutes C O n r v N t₀ lab correct)
    (hr : ∀ t, Fills v N t₀ t → right t = true → region t = true ∧ C.Correct O n r t (lab t))
    (hw : ∀ t, Fills v N t₀ t → wrong t = true → region t = true ∧ ¬ C.Correct O n r t (lab t)) :
    count v N right t₀ ≤ count v N (fun t => both (region t) (correct t)) t₀ ∧
    count v N wrong t₀ ≤ count v N (fun t => both (region t) (not (correct t))) t₀ :=
  ⟨count_le (fun s hs h => both_intro (hr s hs h).left (hc s hs (hr s hs h).right)),
   count_le (fun s hs h => both_intro (hw s hs h).left
     (replace (eq_false_of_ne_true (fun k => (hw s hs h).right (hf s hs k))) (fun b => not b = true) rfl))⟩

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

/-- **Rule `disjoint_union`.** Counts of sequences with a property (here called `correct`; also used with its negation, for wrong sequences)
in disjoint regions add up. -/
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

/-- **Rule `conclude`.** If at least `right` sequences of some region are right and at least `wrong` are wrong, then at least `right` and at
most `v^N - wrong` of all `v^N` sequences are right; as shares,
the accuracy lies between `right / v^N` and `(v^N - wrong) / v^N`. -/
theorem Rule.conclude (v N right wrong : Nat) (correct region : (Nat → Nat) → Bool) (t₀ : Nat → Nat)
    (hr : right ≤ count (Nat.succ v) N (fun t => both (region t) (correct t)) t₀)
    (hw : wrong ≤ count (Nat.succ v) N (fun t => both (region t) (not (correct t))) t₀) :
    right ≤ count (Nat.succ v) N correct t₀ ∧ count (Nat.succ v) N correct t₀ ≤ pow (Nat.succ v) N - wrong ∧
    cast (F := F) right / cast (pow (Nat.succ v) N) ≤ accuracy (Nat.succ v) N correct t₀ ∧
    accuracy (F := F) (Nat.succ v) N correct t₀ ≤ cast (pow (Nat.succ v) N - wrong) / cast (pow (Nat.succ v) N) :=
  have total : (0 : F) < cast (pow (Nat.succ v) N) := cast_pos_of (pow_succ_pos v N)
  have lower : right ≤ count (Nat.succ v) N correct t₀ := nat_le_trans hr (count_le (fun _ _ k => both_right k))
  have w : wrong ≤ count (Nat.succ v) N (fun t => not (correct t)) t₀ := nat_le_trans hw (count_le (fun _ _ k => both_right k))
  have sum : count (Nat.succ v) N correct t₀ + wrong ≤ pow (Nat.succ v) N :=
    nat_le_trans (nat_add_le_add (nat_le_refl _) w) (replace (count_not (Nat.succ v) N correct t₀) (fun x => x ≤ pow (Nat.succ v) N) (nat_le_refl _))
  have upper : count (Nat.succ v) N correct t₀ ≤ pow (Nat.succ v) N - wrong := le_sub_of_add_le wrong sum
  ⟨lower, upper, mul_le_mul_right (cast_le lower) (inv_nonneg total), mul_le_mul_right (cast_le upper) (inv_nonneg total)⟩

/-- **Rule `conclude`, other fractions.** A claim `P / Q` follows from `P v^N ≤ right Q`. -/
theorem Rule.conclude.at_least (v N right P Q : Nat) (correct : (Nat → Nat) → Bool) (t₀ : Nat → Nat) (h : right ≤ count (Nat.succ v) N correct t₀)
    (hQ : 0 < Q) (hP : P * pow (Nat.succ v) N ≤ right * Q) : cast (F := F) P / cast Q ≤ accuracy (Nat.succ v) N correct t₀ :=
  have total : (0 : F) < cast (pow (Nat.succ v) N) := cast_pos_of (pow_succ_pos v N)
  div_le_div (cast_pos_of hQ) total
    (calc cast (F := F) P * cast (pow (Nat.succ v) N) = cast (P * pow (Nat.succ v) N) := (cast_mul _ _).symm
      _ ≤ cast (right * Q) := cast_le hP
      _ ≤ cast (count (Nat.succ v) N correct t₀ * Q) := cast_le (nat_mul_le_mul_right h Q)
      _ = cast (count (Nat.succ v) N correct t₀) * cast Q := cast_mul _ _)
end
end CompactProofs
