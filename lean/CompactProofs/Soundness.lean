import CompactProofs.GapClasses
import CompactProofs.Convolution
import CompactProofs.Weights
/-!
# Soundness: facts of the kinds that the checker derives imply the accuracy bound

These theorems are about the model as it is defined by its weights (`Model` in `Circuits.lean`): scores, softmax, logits, over any ordered
field with an exponential. `correct` is the indicator of the sequences
on which the model is right with a margin above `r`; the conclusions bound the number of such sequences among all `v^(n+1)`, and with
`Rule.conclude` the accuracy.
-/
namespace CompactProofs
noncomputable section
variable {F : Type} [ExpField F]

/-- The model gives the right output `m` a logit that exceeds those of the other `O - 1` outputs by more than `r`. -/
def Model.Correct (M : Model F) (O n : Nat) (r : F) (t : Nat → Nat) (m : Nat) : Prop :=
  ∀ o, o < O → o ≠ m → (M.logit n t o - M.logit n t m) + r < 0
theorem Model.correct_iff (M : Model F) (O n : Nat) (r : F) (t : Nat → Nat) (m : Nat) : (M.circuits n).Correct O n r t m ↔ M.Correct O n r t m :=
  have e : ∀ o, (M.logit n t o - M.logit n t m) + r = ((M.circuits n).logit n t o - (M.circuits n).logit n t m) + r := fun o =>
    add_congr (sub_congr (Rule.circuit M n t o) (Rule.circuit M n t m)) rfl
  ⟨fun h o ho hne => replace (e o) (fun z => z < 0) (h o ho hne), fun h o ho hne => replace (e o).symm (fun z => z < 0) (h o ho hne)⟩
/-- `correct` is true wherever the model is right; `lab` gives the right answers. -/
def Model.Certifies (M : Model F) (O n : Nat) (r : F) (v N : Nat) (t₀ : Nat → Nat) (lab : (Nat → Nat) → Nat) (correct : (Nat → Nat) → Bool) : Prop :=
  ∀ t, Fills v N t₀ t → M.Correct O n r t (lab t) → correct t = true
theorem Model.certifies {M : Model F} {O n : Nat} {r : F} {v N : Nat} {t₀ : Nat → Nat} {lab : (Nat → Nat) → Nat} {correct : (Nat → Nat) → Bool}
    (h : M.Certifies O n r v N t₀ lab correct) : CompactProofs.Certifies (M.circuits n) O n r v N t₀ lab correct :=
  fun t ht k => h t ht ((M.correct_iff O n r t (lab t)).mp k)

/-! ## Proofs by classes -/

/-- No two classes of the list agree in query, maximum and number of other tokens. -/
def Apart : List Class → Prop
  | [] => True
  | k :: l => Every (fun k' => k.q ≠ k'.q ∨ k.m ≠ k'.m ∨ k.c ≠ k'.c) l ∧ Apart l
/-- The total size of the classes of a list: `Σ binom(n, c) * s^c`. -/
def totalSize (v n : Nat) : List Class → Nat
  | [] => 0
  | k :: l => k.size v n + totalSize v n l
/-- The classes of a list as regions. -/
def regions (v n : Nat) : List Class → List (((Nat → Nat) → Bool) × Nat)
  | [] => []
  | k :: l => ⟨k.has n, k.size v n⟩ :: regions v n l

theorem total_regions (v n : Nat) : (l : List Class) → totalOf (regions v n l) = totalSize v n l
  | [] => rfl
  | k :: l => nat_add_congr rfl (total_regions v n l)
theorem every_false {v n : Nat} {k : Class} (hk : k.Valid v n) {t : Nat → Nat} (ht : k.has n t = true) : (l : List Class) → Every (fun k => k.Valid v n) l →
    Every (fun k' => k.q ≠ k'.q ∨ k.m ≠ k'.m ∨ k.c ≠ k'.c) l → Every (fun x => x.fst t = false) (regions v n l)
  | [], _, _ => True.intro
  | _ :: l, hv, ha => ⟨Class.disjoint hk hv.left ha.left t ht, every_false hk ht l hv.right ha.right⟩
theorem disjoint_regions {v n : Nat} : (l : List Class) → Every (fun k => k.Valid v n) l → Apart l → Disjoint (regions v n l)
  | [], _, _ => True.intro
  | _ :: l, hv, ha => ⟨fun _ ht => every_false hv.left ht l hv.right ha.left, disjoint_regions l hv.right ha.right⟩
theorem regions_right {C : Circuits F} {O n : Nat} {r : F} {v : Nat} {t₀ : Nat → Nat} {correct : (Nat → Nat) → Bool}
    (hc : Certifies C O n r v (Nat.succ n) t₀ (label n) correct) : (l : List Class) → Every (fun k => k.Valid v n) l →
    Every (fun k => ∀ t, k.has n t = true → C.Correct O n r t k.m) l →
    Every (fun x => x.snd ≤ count v (Nat.succ n) (fun s => both (x.fst s) (correct s)) t₀) (regions v n l)
  | [], _, _ => True.intro
  | k :: l, hv, h =>
    ⟨replace (Class.count_eq hv.left t₀).symm (fun x => x ≤ count v (Nat.succ n) (fun s => both (k.has n s) (correct s)) t₀)
      (count_le (fun s hs hk => both_intro hk (hc s hs
        (replace (Class.label_eq hv.left hk) (fun m => C.Correct O n r s m) (h.left s hk))))),
     regions_right hc l hv.right h.right⟩

/-- **Proofs by classes.** If the classes of a list are valid and apart, and the model is right on every sequence of each of them, then at
least as many sequences are right as the classes hold together. The classes may come from different rules. -/
theorem Soundness.classes (M : Model F) (O n : Nat) (r : F) (v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool)
    (hc : M.Certifies O n r v (Nat.succ n) t₀ (label n) correct) (l : List Class) (hv : Every (fun k => k.Valid v n) l) (ha : Apart l)
    (h : Every (fun k => ∀ t, k.has n t = true → (M.circuits n).Correct O n r t k.m) l) : totalSize v n l ≤ count v (Nat.succ n) correct t₀ :=
  replace (total_regions v n l).symm (fun x => x ≤ count v (Nat.succ n) correct t₀)
    (Rule.disjoint_union v (Nat.succ n) correct t₀ (regions v n l) (disjoint_regions l hv ha) (regions_right (Model.certifies hc) l hv h))

theorem Every.map {α : Type} {P Q : α → Prop} (h : ∀ x, P x → Q x) : (l : List α) → Every P l → Every Q l
  | [], _ => True.intro
  | x :: l, k => ⟨h x k.left, Every.map h l k.right⟩

/-- What the rule `pure_sequences` establishes for one class: see `Rule.pure_sequences`. -/
def CubicFact (C : Circuits F) (O n : Nat) (r : F) (k : Class) : Prop := Exists fun value : Nat → Nat → F => Exists fun lo : F => Exists fun hi : F =>
  (∀ o, o < O → o ≠ k.m → ∀ i, i < Nat.succ n → ∀ x, x = k.m ∨ k.good x = true ∨ x = k.q → C.term r k.q i x o k.m ≤ value o x) ∧
  (∀ J : Nat → Bool, chosen J n = k.c → lo ≤ sumOn J n (C.placeWeight k.q) ∧ sumOn J n (C.placeWeight k.q) ≤ hi) ∧
  (∀ o, o < O → o ≠ k.m → ∀ x, k.good x = true → ∀ e, e = lo ∨ e = hi →
    arrangement (sum n (C.placeWeight k.q)) e (C.placeWeight k.q n) (C.tokenWeight k.q k.m * value o k.m)
      (C.tokenWeight k.q x * value o x) (C.tokenWeight k.q k.q * value o k.q) < 0) ∧
  (k.c = 0 → ∀ o, o < O → o ≠ k.m →
    sum n (C.placeWeight k.q) * (C.tokenWeight k.q k.m * value o k.m) + C.placeWeight k.q n * (C.tokenWeight k.q k.q * value o k.q) < 0)

/-- **Soundness of the cubic proof** (the paper's Theorem 11 with its count): if the rule `pure_sequences` holds for every class of a list,
at least `Σ binom(n, c) * |S|^c` of the `v^(n+1)` sequences are right. -/
theorem Soundness.cubic (M : Model F) (O n : Nat) (r : F) (v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool)
    (hc : M.Certifies O n r v (Nat.succ n) t₀ (label n) correct) (l : List Class) (hv : Every (fun k => k.Valid v n) l) (ha : Apart l)
    (h : Every (CubicFact (M.circuits n) O n r) l) : totalSize v n l ≤ count v (Nat.succ n) correct t₀ :=
  Soundness.classes M O n r v t₀ correct hc l hv ha (Every.map (P := CubicFact (M.circuits n) O n r) (Q := fun k => ∀ t, k.has n t = true → (M.circuits n).Correct O n r t k.m) (fun k ⟨value, lo, hi, h1, h2, h3, h4⟩ t ht =>
    Rule.pure_sequences (M.circuits n) O n r k value lo hi h1 h2 h3 h4 t ht) l h)

/-- What the rule `gap_classes` establishes for one class: approximate scores with an error per query; by how much (`δ`) the maximum stands
out; bounds of the place weights; the wrong-logit bound at the least attention, on a chord between two nodes, and at attention 1. -/
def GapFact (C : Circuits F) (O n : Nat) (r : F) (k : Class) : Prop :=
  Exists fun v : Nat => Exists fun approx : Nat → Nat → F => Exists fun err : Nat → F => Exists fun δ : F => Exists fun x : F => Exists fun y : F => Exists fun lo : F =>
  Exists fun G : F => Exists fun W : F => Exists fun L : Nat → F => Exists fun α : F => Exists fun β : F => Exists fun A : F => Exists fun B : F => Exists fun one : F =>
  -- the admissible pair, and how far the maximum stands out from the other tokens
  Admissible v C.EQKE approx err ∧ k.m < v ∧
  (∀ z, k.good z = true ∨ z = k.q → z ≠ k.m → z < v ∧ δ ≤ (approx k.q k.m - approx k.q z) - err k.q) ∧
  -- direct path and positions; values
  (∀ o, o < O → o ≠ k.m → ∀ i, i < Nat.succ n → ((C.EU k.q o - C.EU k.q k.m) + r) + (C.PVOU i o - C.PVOU i k.m) ≤ G + L o) ∧
  (∀ o, o < O → o ≠ k.m → ∀ z, k.good z = true ∨ z = k.q → z ≠ k.m → C.EVOU z o - C.EVOU z k.m ≤ W) ∧
  -- attention
  (0 ≤ x ∧ ∀ t, k.has n t = true → x ≤ sumOn (holds k.m t) (Nat.succ n) (C.placeWeight k.q) ∧ sumOn (fun i => not (holds k.m t i)) (Nat.succ n) (C.placeWeight k.q) ≤ y) ∧
  (0 < x * ExpField.exp (C.scale * δ) + y ∧ lo ≤ x * ExpField.exp (C.scale * δ) / (x * ExpField.exp (C.scale * δ) + y)) ∧
  -- the largest line at two nodes and at 1
  (α ≤ lo ∧ lo ≤ β ∧ α < β) ∧
  (∀ o, o < O → o ≠ k.m → L o + α * (C.EVOU k.m o - C.EVOU k.m k.m) ≤ A ∧ L o + β * (C.EVOU k.m o - C.EVOU k.m k.m) ≤ B ∧ L o + (C.EVOU k.m o - C.EVOU k.m k.m) ≤ one) ∧
  (((β - lo) * A + (lo - α) * B) + (β - α) * (G + (1 - lo) * W) < 0 ∧ one + G < 0)

/-- **Soundness of the sub-cubic proofs:** if the rule `gap_classes` holds for every class of a list, at least `Σ binom(n, c) * s^c`
sequences are right (`s = m - g + 1` for a gap `g`). The approximate scores come from `peel` and any of the row bounds. -/
theorem Soundness.gap_classes (M : Model F) (O n : Nat) (r : F) (v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool) (hs : 0 ≤ M.scale)
    (hc : M.Certifies O n r v (Nat.succ n) t₀ (label n) correct) (l : List Class) (hv : Every (fun k => k.Valid v n) l) (ha : Apart l)
    (h : Every (GapFact (M.circuits n) O n r) l) : totalSize v n l ≤ count v (Nat.succ n) correct t₀ :=
  Soundness.classes M O n r v t₀ correct hc l hv ha (Every.map (P := GapFact (M.circuits n) O n r) (Q := fun k => ∀ t, k.has n t = true → (M.circuits n).Correct O n r t k.m)
    (fun k ⟨w, approx, err, δ, x, y, lo, G, W, L, α, β, A, B, one, hA, hm, hδ, hL, hW, hx, hd, hn, hH, hv⟩ t ht =>
      Rule.gap_classes (M.circuits n) O n r k x y (ExpField.exp (M.scale * δ)) lo G W L hL hW hx.left (fun t ht => (hx.right t ht).left) (fun t ht => (hx.right t ht).right)
        (fun z hz ne => (Rule.gap_classes.weight_ratio (M.circuits n) hs k.q k.m z δ).left
          (le_trans (hδ z hz ne).right (hA k.q k.m z hm (hδ z hz ne).left).left))
        hd.left hd.right
        (fun o ho hne => Rule.gap_classes.chord G W lo α β A B (L o) _ hn.left hn.right.left hn.right.right (hH o ho hne).left (hH o ho hne).right.left hv.left)
        (fun o ho hne => .inr (lt_of_le_of_lt
          (le_of (sub_nonneg (hH o ho hne).right.right) (ring (one :: G :: L o :: (M.circuits n).EVOU k.m o :: (M.circuits n).EVOU k.m k.m :: W :: []))) hv.right)) t ht) l h)

/-! ## Proofs by margin sums -/

/-- Grid values and threshold for one group of outputs. -/
structure Grid where
  g : Nat → Nat → Nat
  θ : Nat
/-- What the rule `margin_convolution` establishes for the query `q` and the maximum `m`: a list of grids such that every output belongs to
one whose grid sums reach the threshold whenever the sequence fails through that output. -/
def MarginFact (C : Circuits F) (O n : Nat) (r : F) (q m : Nat) (l : List Grid) : Prop :=
  ∀ s, s n = q → (∀ i, i < n → s i ≤ m) → ∀ o, o < O → o ≠ m → 0 ≤ (C.logit n s o - C.logit n s m) + r →
    Exists fun G : Grid => Member G l ∧ G.θ ≤ sumNat n (fun i => G.g i (s i))
where
  Member (G : Grid) : List Grid → Prop
    | [] => False
    | H :: l => G = H ∨ Member G l

/-- **From terms to a margin fact.** For every output let some grid of the list bound its terms from above (after dividing the weights by
any positive `g`), and let grid sums below the threshold, with the query's term, be certainly negative. Then the fact holds. -/
theorem Soundness.margin_fact (C : Circuits F) (O n : Nat) (r : F) (q m : Nat) (l : List Grid)
    (h : ∀ o, o < O → o ≠ m → Exists fun G : Grid => MarginFact.Member G l ∧ Exists fun w : Nat → Nat → F => Exists fun g : F => Exists fun step : F => Exists fun c : Nat → F => Exists fun last : F =>
      0 < g ∧ (∀ i, i < n → ∀ x, x ≤ m → C.weight q i x = g * w i x) ∧ C.weight q n q = g * w n q ∧
      (∀ i, i < n → ∀ x, x ≤ m → w i x * C.term r q i x o m ≤ step * cast (G.g i x) - c i) ∧ w n q * C.term r q n q o m ≤ last ∧
      (∀ z, z < G.θ → (step * cast z - sum n c) + last < 0)) : MarginFact C O n r q m l :=
  fun s hs hm o ho hne fails =>
  match h o ho hne with
  | ⟨G, hG, w, g, step, c, last, g0, hw, hwq, ht, hlast, hθ⟩ =>
    have weights : ∀ i, i < Nat.succ n → C.weight (s n) i (s i) = g * w i (s i) := fun i hi => replace hs (fun y => C.weight y i (s i) = g * w i (s i))
      ((lt_or_eq_of_lt_succ hi).elim (fun k => hw i k (s i) (hm i k))
        (fun e => replace e (fun i => C.weight q i (s i) = g * w i (s i)) (replace hs (fun y => C.weight q n y = g * w n y) hwq)))
    have nonneg := (Rule.margins C n s o m r g (fun i => w i (s i)) g0 weights).right.mp fails
    have split : 0 ≤ sum n (fun i => w i (s i) * C.term r q i (s i) o m) + last :=
      le_trans (Eq.subst (motive := fun y => 0 ≤ sum n (fun i => w i (s i) * C.term r y i (s i) o m) + w n (s n) * C.term r y n (s n) o m) hs nonneg)
        (add_le_add_left (replace hs (fun y => w n y * C.term r q n y o m ≤ last) hlast) _)
    ⟨G, hG, Rule.margin_convolution.rounding n (fun i x => w i x * C.term r q i x o m) G.g c step last G.θ s (fun i hi => ht i hi (s i) (hm i hi)) hθ split⟩

/-- The sequences of the class that may fail, as counted by the recursion. -/
def failures (top : Bool) (m n : Nat) : List Grid → Nat
  | [] => 0
  | G :: l => (match top with | true => tail (Nat.succ m) G.g n G.θ | false => tail (Nat.succ m) G.g n G.θ - tail m G.g n G.θ) + failures top m n l
def reach (n : Nat) (G : Grid) (s : Nat → Nat) : Bool := Nat.ble G.θ (sumNat n (fun i => G.g i (s i)))
def reachAny (n : Nat) : List Grid → (Nat → Nat) → Bool
  | [], _ => false
  | G :: l, s => either (reach n G s) (reachAny n l s)

theorem reachAny_of (n : Nat) (G : Grid) (s : Nat → Nat) (h : G.θ ≤ sumNat n (fun i => G.g i (s i))) : (l : List Grid) → MarginFact.Member G l → reachAny n l s = true
  | [], k => k.elim
  | H :: l, k => match bool_cases (reach n H s) with
    | .inl e => replace e (fun b => either b (reachAny n l s) = true) rfl
    | .inr e => replace e (fun b => either b (reachAny n l s) = true) (k.elim
        (fun i => absurd ((le_ble h).symm.trans (replace i (fun K => reach n K s = false) e)) true_ne_false)
        (fun i => reachAny_of n G s h l i))
theorem count_reach (v m n : Nat) (hm : m < v) (top : Bool) (t : Nat → Nat) : (l : List Grid) →
    count v n (fun s => both (inClass top m n s) (reachAny n l s)) t ≤ failures top m n l
  | [] => replace ((sumOver_congr (g := fun _ => 0) (fun s _ =>
      show one (both (inClass top m n s) false) = 0 from match inClass top m n s with
      | true => rfl
      | false => rfl)).trans (sumOver_const v 0 n t)) (fun x => x ≤ 0) (nat_le_refl 0)
  | G :: l => nat_le_trans
      (count_either_le (p := fun s => both (inClass top m n s) (reach n G s)) (q := fun s => both (inClass top m n s) (reachAny n l s))
        (fun s _ h => (either_elim (both_right h)).elim (fun k => .inl (both_intro (both_left h) k)) (fun k => .inr (both_intro (both_left h) k))))
      (nat_add_le_add
        (have conv := Rule.margin_convolution v m n hm G.g G.θ (reach n G) t (fun s _ h => ble_le h)
         match top with
         | true => conv.left
         | false => conv.right)
        (count_reach v m n hm top t l))

/-- The number of sequences with query `q` and maximum `m`. -/
def classSize (top : Bool) (m n : Nat) : Nat := match top with
  | true => pow (Nat.succ m) n
  | false => pow (Nat.succ m) n - pow m n

theorem classSize_eq (v m n : Nat) (hm : m < v) (top : Bool) (t : Nat → Nat) : classSize top m n ≤ count v n (inClass top m n) t :=
  have h := Rule.margin_convolution.class_size v m n hm t
  match top with
  | true => replace h.left (fun x => pow (Nat.succ m) n ≤ x) (nat_le_refl _)
  | false => sub_le_of_le_add (pow m n) _ (replace h.right (fun x => pow (Nat.succ m) n ≤ x) (nat_le_refl _))

/-- One class: all its sequences but the failures are right. -/
theorem class_bound (C : Circuits F) (O n : Nat) (r : F) (v q m : Nat) (top : Bool) (hm : m < v) (t : Nat → Nat) (ht : t n = q)
    (correct : (Nat → Nat) → Bool) (hright : ∀ s, Fills v n t s → inClass top m n s = true → C.Correct O n r s m → correct s = true)
    (l : List Grid) (h : MarginFact C O n r q m l) :
    classSize top m n - failures top m n l ≤ count v n (fun s => both (inClass top m n s) (correct s)) t :=
  have wrong : count v n (fun s => both (inClass top m n s) (not (correct s))) t ≤ failures top m n l :=
    nat_le_trans (count_le (fun s hs k => both_intro (both_left k) (match bool_cases (reachAny n l s) with
      | .inl e => e
      | .inr e =>
        have hm' : ∀ i, i < n → s i ≤ m := fun i hi => le_of_lt_succ ((allBelow_iff (Nat.succ m) n s).mp (both_left (both_left k)) i hi)
        have c : C.Correct O n r s m := fun o ho hne => (lt_or_le ((C.logit n s o - C.logit n s m) + r) 0).elim id (fun f =>
          match h s (hs.query.trans ht) hm' o ho hne f with
          | ⟨G, hG, hr⟩ => absurd ((reachAny_of n G s hr l hG).symm.trans e) true_ne_false)
        absurd (Eq.subst (motive := fun b => not b = true) (hright s hs (both_left k) c) (both_right k)).symm true_ne_false)))
      (count_reach v m n hm top t l)
  sub_le_of_le_add (failures top m n l) _ (nat_le_trans (classSize_eq v m n hm top t)
    (replace (count_split v n (inClass top m n) correct t).symm (fun x => x ≤ count v n (fun s => both (inClass top m n s) (correct s)) t + failures top m n l)
      (nat_add_le_add (nat_le_refl _) wrong)))

/-- A sequence of the class has label `m`. -/
theorem inClass_label {n q m : Nat} {s : Nat → Nat} (hq : s n = q) (hqm : q ≤ m) (h : inClass (Nat.beq q m) m n s = true) : label n s = m :=
  have le : ∀ i, i < Nat.succ n → s i ≤ m := fun i hi => (lt_or_eq_of_lt_succ hi).elim
    (fun hi => le_of_lt_succ ((allBelow_iff (Nat.succ m) n s).mp (both_left h) i hi))
    (fun e => replace e (fun i => s i ≤ m) (replace hq (fun x => x ≤ m) hqm))
  match bool_cases (Nat.beq q m) with
  | .inl e => label_eq le n (lt_succ_self n) (hq.trans (beq_eq e))
  | .inr e =>
    have some : not (allBelow m n s) = true := Eq.subst (motive := fun b => either b (not (allBelow m n s)) = true) e (both_right h)
    nat_le_antisymm (maxBelow_le le) ((nat_lt_or_le (label n s) m).elim
      (fun k => absurd (Eq.subst (motive := fun b => not b = true)
        ((allBelow_iff m n s).mpr (fun i hi => nat_lt_of_le_of_lt (le_label i (lt_succ_of_lt hi)) k)) some).symm true_ne_false) id)

/-- `x` if the condition holds, otherwise 0. -/
def gate : Bool → Nat → Nat
  | true, x => x
  | false, _ => 0
/-- What a margin-sum proof counts for one query and maximum (nothing unless `q ≤ m`). -/
def part (n q m : Nat) (l : List Grid) : Nat := gate (Nat.ble q m) (classSize (Nat.beq q m) m n - failures (Nat.beq q m) m n l)

/-- **Soundness of the margin-sum proofs:** if for every query and maximum the rule `margin_convolution` holds with a list of grids, then at
least `Σ_q Σ_{m ≥ q} (n(q,m) - F(q,m))` sequences are right, where `n(q,m) = (m+1)^n - [q < m] m^n` is the size of the class and `F(q,m)`
the number of
failures that the recursion counts. -/
theorem Soundness.margin_sums (M : Model F) (O n : Nat) (r : F) (v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool)
    (hc : M.Certifies O n r v (Nat.succ n) t₀ (label n) correct) (grids : Nat → Nat → List Grid)
    (h : ∀ q, q < v → ∀ m, m < v → q ≤ m → MarginFact (M.circuits n) O n r q m (grids q m)) :
    sumNat v (fun q => sumNat v (fun m => part n q m (grids q m))) ≤ count v (Nat.succ n) correct t₀ :=
  have hC := Model.certifies hc
  sumNat_le (fun q hq =>
    let t := update t₀ n q
    have ht : t n = q := update_same t₀ n q
    let piece : Nat → (Nat → Nat) → Nat := fun m s => gate (Nat.ble q m) (one (both (inClass (Nat.beq q m) m n s) (correct s)))
    have each : ∀ m, m < v → part n q m (grids q m) ≤ sumOver v n (piece m) t := fun m hm =>
      match bool_cases (Nat.ble q m) with
      | .inl e =>
        replace e (fun b => gate b (classSize (Nat.beq q m) m n - failures (Nat.beq q m) m n (grids q m))
            ≤ sumOver v n (fun s => gate b (one (both (inClass (Nat.beq q m) m n s) (correct s)))) t)
          (class_bound (M.circuits n) O n r v q m (Nat.beq q m) hm t ht correct
            (fun s hs k c => hC s (hs.step hq) (replace (inClass_label (hs.query.trans ht) (ble_le e) k) (fun m => (M.circuits n).Correct O n r s m) c))
            (grids q m) (h q hq m hm (ble_le e)))
      | .inr e =>
        replace e (fun b => gate b (classSize (Nat.beq q m) m n - failures (Nat.beq q m) m n (grids q m))
            ≤ sumOver v n (fun s => gate b (one (both (inClass (Nat.beq q m) m n s) (correct s)))) t) (nat_zero_le _)
    have onlyOne : ∀ s, Fills v n t s → sumNat v (fun m => piece m s) ≤ one (correct s) := fun s hs =>
      match bool_cases (correct s) with
      | .inl e => replace e (fun b => sumNat v (fun m => piece m s) ≤ one b)
          (sumNat_delta_le (fun m => piece m s) (label n s) (gate_le (Nat.ble q (label n s)) (one_le _))
            (fun m ne => match bool_cases (Nat.ble q m) with
              | .inr k => replace k (fun b => gate b (one (both (inClass (Nat.beq q m) m n s) (correct s))) = 0) rfl
              | .inl k => replace k (fun b => gate b (one (both (inClass (Nat.beq q m) m n s) (correct s))) = 0)
                  (replace (eq_false_of_ne_true (fun c => ne (inClass_label (hs.query.trans ht) (ble_le k) c).symm)) (fun b => one (both b (correct s)) = 0) rfl)) v)
      | .inr e => replace e (fun b => sumNat v (fun m => piece m s) ≤ one b)
          (replace ((sumNat_congr (g := fun _ => 0) (fun m _ =>
            show gate (Nat.ble q m) (one (both (inClass (Nat.beq q m) m n s) (correct s))) = 0 from
            replace e (fun c => gate (Nat.ble q m) (one (both (inClass (Nat.beq q m) m n s) c)) = 0)
              (match Nat.ble q m, inClass (Nat.beq q m) m n s with
                | true, true => rfl
                | true, false => rfl
                | false, _ => rfl))).trans (sumNat_zero v)) (fun x => x ≤ 0) (nat_le_refl 0))
    nat_le_trans (sumNat_le each) (replace (sumOver_sumNat v v n piece t).symm (fun x => x ≤ count v n correct t) (sumOver_le onlyOne)))
where
  gate_le {x c : Nat} (b : Bool) (h : x ≤ c) : gate b x ≤ c := match b with
    | true => h
    | false => nat_zero_le c

/-! ## With an end-of-sequence token

The query is then a fixed token `t₀ n`, the right answer is the largest of the first `n` tokens, and there are `v^n` sequences. -/

/-- A class for a fixed query: the good tokens are below `m`, and `m` occurs. -/
def Class.ValidEos (k : Class) (v n : Nat) (t₀ : Nat → Nat) : Prop := k.q = t₀ n ∧ k.m < v ∧ (∀ x, k.good x = true → x < k.m) ∧ k.c < n

theorem Class.label_eos {k : Class} {v n : Nat} {t₀ t : Nat → Nat} (h : k.ValidEos v n t₀) (ht : k.has n t = true) : maxBelow n t = k.m :=
  have spec := mixed_spec k.good k.m n k.c t (both_right ht)
  nat_le_antisymm
    (maxBelow_le (fun i hi => (spec.left i hi).elim (fun e => replace e (fun x => x ≤ k.m) (nat_le_refl _)) (fun g => nat_le_of_lt (h.right.right.left _ g.right))))
    (match sumNat_lt_exists (differs k.m t) n (replace spec.right (fun x => x < n) h.right.right.right) with
      | ⟨i, hi, hd⟩ =>
        have e : t i = k.m := beq_eq (match bool_cases (Nat.beq (t i) k.m) with
          | .inl e => e
          | .inr e => absurd (Eq.subst (motive := fun b => not b = false) e hd) true_ne_false)
        replace e.symm (fun m => m ≤ maxBelow n t) (le_maxBelow n t i hi))
theorem Class.count_eos {k : Class} {v n : Nat} {t₀ : Nat → Nat} (h : k.ValidEos v n t₀) : count v n (k.has n) t₀ = k.size v n :=
  (count_congr (fun s hs => replace (hs.query.trans h.left.symm) (fun y => both (Nat.beq y k.q) (mixed k.good k.m n k.c s) = mixed k.good k.m n k.c s)
    (replace (beq_refl k.q) (fun b => both b (mixed k.good k.m n k.c s) = mixed k.good k.m n k.c s) rfl))).trans
    (count_mixed v k.good k.m h.right.left (eq_false_of_ne_true (fun e => nat_lt_irrefl k.m (h.right.right.left k.m e))) n k.c t₀)
theorem Class.disjoint_eos {k l : Class} {v n : Nat} {t₀ : Nat → Nat} (hk : k.ValidEos v n t₀) (hl : l.ValidEos v n t₀) (h : k.q ≠ l.q ∨ k.m ≠ l.m ∨ k.c ≠ l.c)
    (t : Nat → Nat) (ht : k.has n t = true) : l.has n t = false :=
  eq_false_of_ne_true (fun hs =>
    have em : k.m = l.m := (Class.label_eos hk ht).symm.trans (Class.label_eos hl hs)
    h.elim (fun e => e (hk.left.trans hl.left.symm)) (fun h => h.elim (fun e => e em)
      (fun e => e ((mixed_spec k.good k.m n k.c t (both_right ht)).right.symm.trans
        (Eq.subst (motive := fun m => chosen (differs m t) n = l.c) em.symm (mixed_spec l.good l.m n l.c t (both_right hs)).right)))))
theorem every_false_eos {v n : Nat} {t₀ : Nat → Nat} {k : Class} (hk : k.ValidEos v n t₀) {t : Nat → Nat} (ht : k.has n t = true) : (l : List Class) →
    Every (fun k => k.ValidEos v n t₀) l → Every (fun k' => k.q ≠ k'.q ∨ k.m ≠ k'.m ∨ k.c ≠ k'.c) l → Every (fun x => x.fst t = false) (regions v n l)
  | [], _, _ => True.intro
  | _ :: l, hv, ha => ⟨Class.disjoint_eos hk hv.left ha.left t ht, every_false_eos hk ht l hv.right ha.right⟩
theorem disjoint_regions_eos {v n : Nat} {t₀ : Nat → Nat} : (l : List Class) → Every (fun k => k.ValidEos v n t₀) l → Apart l → Disjoint (regions v n l)
  | [], _, _ => True.intro
  | _ :: l, hv, ha => ⟨fun _ ht => every_false_eos hv.left ht l hv.right ha.left, disjoint_regions_eos l hv.right ha.right⟩
theorem regions_right_eos {C : Circuits F} {O n : Nat} {r : F} {v : Nat} {t₀ : Nat → Nat} {correct : (Nat → Nat) → Bool}
    (hc : Certifies C O n r v n t₀ (maxBelow n) correct) : (l : List Class) → Every (fun k => k.ValidEos v n t₀) l →
    Every (fun k => ∀ t, k.has n t = true → C.Correct O n r t k.m) l →
    Every (fun x => x.snd ≤ count v n (fun s => both (x.fst s) (correct s)) t₀) (regions v n l)
  | [], _, _ => True.intro
  | k :: l, hv, h =>
    ⟨replace (Class.count_eos hv.left).symm (fun x => x ≤ count v n (fun s => both (k.has n s) (correct s)) t₀)
      (count_le (fun s hs hk => both_intro hk (hc s hs
        (replace (Class.label_eos hv.left hk) (fun m => C.Correct O n r s m) (h.left s hk))))),
     regions_right_eos hc l hv.right h.right⟩

/-- **Proofs by classes, with an end-of-sequence token.** The facts are again those of `CubicFact` and `GapFact` (through
`Rule.pure_sequences` and `Rule.gap_classes`). -/
theorem Soundness.classes_eos (M : Model F) (O n : Nat) (r : F) (v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool)
    (hc : M.Certifies O n r v n t₀ (maxBelow n) correct) (l : List Class) (hv : Every (fun k => k.ValidEos v n t₀) l) (ha : Apart l)
    (h : Every (fun k => ∀ t, k.has n t = true → (M.circuits n).Correct O n r t k.m) l) : totalSize v n l ≤ count v n correct t₀ :=
  replace (total_regions v n l).symm (fun x => x ≤ count v n correct t₀)
    (Rule.disjoint_union v n correct t₀ (regions v n l) (disjoint_regions_eos l hv ha) (regions_right_eos (Model.certifies hc) l hv h))

theorem inClass_label_eos {n m : Nat} {s : Nat → Nat} (h : inClass false m n s = true) : maxBelow n s = m :=
  have le : ∀ i, i < n → s i ≤ m := fun i hi => le_of_lt_succ ((allBelow_iff (Nat.succ m) n s).mp (both_left h) i hi)
  nat_le_antisymm (maxBelow_le le) ((nat_lt_or_le (maxBelow n s) m).elim
    (fun k => absurd (Eq.subst (motive := fun b => not b = true)
      ((allBelow_iff m n s).mpr (fun i hi => nat_lt_of_le_of_lt (le_maxBelow n s i hi) k)) (both_right h)).symm true_ne_false) id)

/-- **Soundness of the margin-sum proofs, with an end-of-sequence token:** at least `Σ_m ((m+1)^n - m^n - F(m))` sequences are right. -/
theorem Soundness.margin_sums_eos (M : Model F) (O n : Nat) (r : F) (v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool)
    (hc : M.Certifies O n r v n t₀ (maxBelow n) correct) (grids : Nat → List Grid)
    (h : ∀ m, m < v → MarginFact (M.circuits n) O n r (t₀ n) m (grids m)) :
    sumNat v (fun m => classSize false m n - failures false m n (grids m)) ≤ count v n correct t₀ :=
  have hC := Model.certifies hc
  let piece : Nat → (Nat → Nat) → Nat := fun m s => one (both (inClass false m n s) (correct s))
  have each : ∀ m, m < v → classSize false m n - failures false m n (grids m) ≤ sumOver v n (piece m) t₀ := fun m hm =>
    class_bound (M.circuits n) O n r v (t₀ n) m false hm t₀ rfl correct
      (fun s hs k c => hC s hs (replace (inClass_label_eos k) (fun m => (M.circuits n).Correct O n r s m) c)) (grids m) (h m hm)
  have onlyOne : ∀ s, Fills v n t₀ s → sumNat v (fun m => piece m s) ≤ one (correct s) := fun s _ =>
    match bool_cases (correct s) with
    | .inl e => replace e (fun b => sumNat v (fun m => piece m s) ≤ one b)
        (sumNat_delta_le (fun m => piece m s) (maxBelow n s) (one_le _)
          (fun m ne => replace (eq_false_of_ne_true (fun c => ne (inClass_label_eos c).symm)) (fun b => one (both b (correct s)) = 0) rfl) v)
    | .inr e => replace e (fun b => sumNat v (fun m => piece m s) ≤ one b)
        (replace ((sumNat_congr (g := fun _ => 0) (fun m _ =>
          show one (both (inClass false m n s) (correct s)) = 0 from
          replace e (fun c => one (both (inClass false m n s) c) = 0)
            (match inClass false m n s with
              | true => rfl
              | false => rfl))).trans (sumNat_zero v)) (fun x => x ≤ 0) (nat_le_refl 0))
  nat_le_trans (sumNat_le each) (replace (sumOver_sumNat v v n piece t₀).symm (fun x => x ≤ count v n correct t₀) (sumOver_le onlyOne))

/-- **The accuracy** that follows from any of the three bounds. -/
theorem Soundness.accuracy (v n N : Nat) (correct : (Nat → Nat) → Bool) (t₀ : Nat → Nat) (h : N ≤ count (Nat.succ v) (Nat.succ n) correct t₀) :
    cast (F := F) N / cast (pow (Nat.succ v) (Nat.succ n)) ≤ CompactProofs.accuracy (Nat.succ v) (Nat.succ n) correct t₀ :=
  mul_le_mul_right (cast_le h) (inv_nonneg (cast_pos_of (pow_succ_pos v (Nat.succ n))))
end
end CompactProofs
