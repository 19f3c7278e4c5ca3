import Mathlib
import Export.Bridge
/-!
# The rules that the certificate uses, as lemmas over the real numbers

Names are those of `docs/FORMAT.md`. No lemma here has a `sorry`: each is an instance of the theorem of `CompactProofs` that it names.
-/
namespace CompactProofs.Export
noncomputable section
open ExpField (exp inv)

-- part common
/-- The sums whose signs the margins have: for every output but the right one, the sum over the positions of weight times term is negative. `C` holds the
circuits of the model. -/
def Setting.Sums (S : Setting) (C : Circuits R) (r : R) (t : ℕ → ℕ) : Prop := ∀ o, o < S.outputs → o ≠ S.answer t →
  sum (Nat.succ S.last) (fun i => C.weight (t S.last) i (t i) * C.term r (t S.last) i (t i) o (S.answer t)) < 0
/-- `C` has the logits of the model. -/
def Setting.Circuits (S : Setting) (C : CompactProofs.Circuits R) : Prop := ∀ t o, S.model.logit S.last t o = C.logit S.last t o
theorem Setting.correct_for (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (t : ℕ → ℕ) (m : ℕ) :
    C.Correct S.outputs S.last r t m ↔ AboveBy (S.logits t) S.outputs r m :=
  Iff.intro (fun h o ho hne => replace (hC t o) (fun z => (z - S.model.logit S.last t m) + r < 0)
      (replace (hC t m) (fun z => (C.logit S.last t o - z) + r < 0) (h o ho hne)))
    (fun h o ho hne => Eq.subst (motive := fun z => (z - C.logit S.last t m) + r < 0) (hC t o)
      (Eq.subst (motive := fun z => (S.model.logit S.last t o - z) + r < 0) (hC t m) (h o ho hne)))
theorem Setting.correct_iff (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (t : ℕ → ℕ) :
    C.Correct S.outputs S.last r t (S.answer t) ↔ S.Above r S.logits t := S.correct_for C hC r t (S.answer t)

-- part circuit
/-- **Rule `circuit`**: the logits that the network computes from its weights are those of its five circuits. By `CompactProofs.Rule.circuit`. -/
theorem Rule.circuit (M : Model R) (n : ℕ) (t : ℕ → ℕ) (o : ℕ) : M.logit n t o = (M.circuits n).logit n t o := CompactProofs.Rule.circuit M n t o
/-- **Rule `circuit`**, with centres for the keys and for the values, which may be anything. By `CompactProofs.Rule.circuit.centred`. -/
theorem Rule.circuit.centred (M : Model R) (n : ℕ) (k z : ℕ → R) (t : ℕ → ℕ) (o : ℕ) : M.logit n t o = (M.centred n k z).logit n t o :=
  CompactProofs.Rule.circuit.centred M n k z t o

-- part product
/-- **Rule `product`**: two neighbouring factors may be replaced by their product. By `CompactProofs.Rule.product`. -/
theorem Rule.product (A : ℕ → ℕ → R) (l : List (ℕ × (ℕ → ℕ → R))) (d e : ℕ) (B C : ℕ → ℕ → R) (rest : List (ℕ × (ℕ → ℕ → R))) (i j : ℕ) :
    chain A (⟨d, B⟩ :: rest) i j = chain (matMul d A B) rest i j ∧
    chain A (join l (⟨d, B⟩ :: ⟨e, C⟩ :: rest)) i j = chain A (join l (⟨d, matMul e B C⟩ :: rest)) i j :=
  CompactProofs.Rule.product A l d e B C rest i j

-- part peel
/-- **Rule `peel`**: a column times a row moves from a factor into the approximation; column and row may be anything. By `CompactProofs.Rule.peel.factored`. -/
theorem Rule.peel (S approx : ℕ → ℕ → R) (d : ℕ) (y z : ℕ → R) (A B : ℕ → ℕ → R) (h : ∀ i j, A i j = y i * z j + B i j)
    (L : ℕ → ℕ → R) (l rest : List (ℕ × (ℕ → ℕ → R))) :
    (Factored S approx A rest → Factored S (fun i j => approx i j + y i * rowChain z rest j) B rest) ∧
    (Factored S approx L (join l (⟨d, A⟩ :: rest)) →
      Factored S (fun i j => approx i j + colChain d y L l i * rowChain z rest j) L (join l (⟨d, B⟩ :: rest))) :=
  CompactProofs.Rule.peel.factored S approx d y z A B h L l rest

-- part row_exact
/-- **Rule `row_exact`**: with one factor left, the approximation plus that factor leaves nothing out. By `CompactProofs.Rule.row_exact`. -/
theorem Rule.row_exact (v : ℕ) (S approx factor : ℕ → ℕ → R) (hS : ∀ q i, S q i = approx q i + factor q i) :
    Admissible v S (fun q i => approx q i + factor q i) (fun _ => 0) := CompactProofs.Rule.row_exact v S approx factor hS

-- part row_range_chain
/-- **Rule `row_range_chain`**: what the recursion over the factors computes bounds the range of every row of their product; summary rows may be anything.
By `CompactProofs.Rule.row_range_chain`. -/
theorem Rule.row_range_chain (v : ℕ) (A : ℕ → ℕ → R) (l : List (ℕ × (ℕ → ℕ → R))) (b : ℕ → R) (h : ChainBound v A l b) :
    RowBound (Nat.succ v) (chain A l) b := CompactProofs.Rule.row_range_chain v A l b h

-- part row_norm
/-- **Rule `row_norm`**: if `b q ≥ 0` and `(b q)² ≥ 2 Σ (M q l - c q)²` for any shift `c q`, then `b q` bounds the range of row `q`.
By `CompactProofs.Rule.row_norm`. -/
theorem Rule.row_norm (v : ℕ) (M : ℕ → ℕ → R) (c b : ℕ → R) (hb : ∀ q, 0 ≤ b q)
    (h : ∀ q, (1 + 1) * sum v (fun l => (M q l - c q) * (M q l - c q)) ≤ b q * b q) : RowBound v M b := CompactProofs.Rule.row_norm v M c b hb h

-- part row_bound_min
/-- **Rule `row_bound_min`**: of two bounds the smaller one may be taken, row by row. By `CompactProofs.Rule.row_bound_min`. -/
theorem Rule.row_bound_min (v : ℕ) (M : ℕ → ℕ → R) (b c m : ℕ → R) (hb : RowBound v M b) (hc : RowBound v M c)
    (hm : ∀ q, b q ≤ m q ∨ c q ≤ m q) : RowBound v M m := CompactProofs.Rule.row_bound_min v M b c m hb hc hm

-- part weights
/-- **Rule `weights`**: every enclosure of the exponential that the checker obtains holds. By `CompactProofs.Rule.weights`. -/
theorem Rule.weights (l u x : R) (h : ExpBounds l u x) : 0 ≤ l ∧ l ≤ exp x ∧ exp x ≤ u := CompactProofs.Rule.weights l u x h

-- part margins
/-- **Rule `margins`**: a margin is above the threshold iff all the sums of weight times term are negative. By `CompactProofs.Rule.margins`. -/
theorem Rule.margins (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (t : ℕ → ℕ) : S.Sums C r t ↔ S.Above r S.logits t :=
  Iff.intro
    (fun h => (S.correct_iff C hC r t).mp (fun o ho hne => (CompactProofs.Rule.margins C S.last t o (S.answer t) r 1
      (fun i => C.weight (t S.last) i (t i)) zero_lt_one (fun i _ => (one_mul _).symm)).left.mpr (h o ho hne)))
    (fun h o ho hne => (CompactProofs.Rule.margins C S.last t o (S.answer t) r 1
      (fun i => C.weight (t S.last) i (t i)) zero_lt_one (fun i _ => (one_mul _).symm)).left.mp ((S.correct_iff C hC r t).mpr h o ho hne))

-- part enumerate
/-- What a step `enumerate` finds by arithmetic: some inputs of the region whose sums are all negative, and some with a sum that is not. -/
inductive Enumerated (S : Setting) (C : CompactProofs.Circuits R) (r : R) (region : List Span) (right wrong : ℕ) : Prop where
  | intro (p q : (ℕ → ℕ) → Bool) (hp : ∀ t, S.Input t → p t = true → S.inside region t = true ∧ S.Sums C r t)
      (hq : ∀ t, S.Input t → q t = true → S.inside region t = true ∧ ¬ S.Sums C r t) (hr : right ≤ S.mass p) (hw : wrong ≤ S.mass q) :
      Enumerated S C r region right wrong
/-- **Rule `enumerate`**. By `CompactProofs.Rule.enumerate.masses`. -/
theorem Rule.enumerate (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (region : List Span) (right wrong : ℕ)
    (h : Enumerated S C r region right wrong) : S.Count S.logits r region right wrong :=
  match h with
  | .intro p q hp hq hr hw => match CompactProofs.Rule.enumerate.masses S.weight C S.outputs S.last r S.tokens S.length S.start S.answer
      (fun t => holds (S.Above r S.logits t)) (S.inside region) p q
      (fun t _ k => holds_of ((S.correct_iff C hC r t).mp k)) (fun t _ k => (S.correct_iff C hC r t).mpr (of_holds k))
      (fun t ht k => ⟨(hp t ht k).left, (S.correct_iff C hC r t).mpr ((Rule.margins S C hC r t).mp (hp t ht k).right)⟩)
      (fun t ht k => ⟨(hq t ht k).left, fun c => (hq t ht k).right ((Rule.margins S C hC r t).mpr ((S.correct_iff C hC r t).mp c))⟩) with
    | ⟨a, b⟩ => ⟨nat_le_trans hr a, nat_le_trans hw b⟩

-- part sums_count
/-- Counts of inputs by their sums are counts of inputs by their margins. -/
theorem Setting.count_of_sums (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (region : List Span) (right wrong : ℕ)
    (hr : right ≤ S.mass (fun t => both (S.inside region t) (holds (S.Sums C r t))))
    (hw : wrong ≤ S.mass (fun t => both (S.inside region t) (not (holds (S.Sums C r t))))) : S.Count S.logits r region right wrong :=
  ⟨nat_le_trans hr (mass_le (fun t _ k => both_intro (both_left k) (holds_of ((Rule.margins S C hC r t).mp (of_holds (both_right k)))))),
   nat_le_trans hw (mass_le (fun t _ k => both_intro (both_left k)
     (not_holds (fun c => of_not_holds (both_right k) ((Rule.margins S C hC r t).mpr c)))))⟩

-- part margin_tree
/-- What a step `margin_tree` finds by arithmetic: a tree over the positions, with subtrees that are wholly inside the region with negative sums (or, for the
second number, with a sum that is not negative). -/
inductive Walked (S : Setting) (C : CompactProofs.Circuits R) (r : R) (region : List Span) (right wrong : ℕ) : Prop where
  | intro (a b : ℕ) (hr : MassTree S.weight S.tokens (fun t => both (S.inside region t) (holds (S.Sums C r t))) S.length S.start right a)
      (hw : MassTree S.weight S.tokens (fun t => both (S.inside region t) (not (holds (S.Sums C r t)))) S.length S.start wrong b) :
      Walked S C r region right wrong
/-- **Rule `margin_tree`**. By `CompactProofs.Rule.margin_tree.masses`. -/
theorem Rule.margin_tree (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (region : List Span) (right wrong : ℕ)
    (h : Walked S C r region right wrong) : S.Count S.logits r region right wrong :=
  match h with
  | .intro a b hr hw => S.count_of_sums C hC r region right wrong
      (CompactProofs.Rule.margin_tree.masses S.weight S.tokens _ S.length S.start right a hr).left
      (CompactProofs.Rule.margin_tree.masses S.weight S.tokens _ S.length S.start wrong b hw).left

-- part margin_convolution
/-- **Rule `margin_convolution`** for one class and one group of outputs: at most as many inputs fail through the group as the recursion counts.
By `CompactProofs.Rule.margin_convolution.masses`. -/
theorem Rule.margin_convolution (W : ℕ → ℕ → ℕ) (v m n : ℕ) (hm : m < v) (g : ℕ → ℕ → ℕ) (θ : ℕ) (fails : (ℕ → ℕ) → Bool) (t : ℕ → ℕ)
    (h : ∀ s, Fills v n t s → fails s = true → θ ≤ sumNat n (fun i => g i (s i))) :
    mass W v n (fun s => both (inClass true m n s) (fails s)) t ≤ tailMass W (Nat.succ m) g n θ ∧
    mass W v n (fun s => both (inClass false m n s) (fails s)) t ≤ tailMass W (Nat.succ m) g n θ - tailMass W m g n θ :=
  CompactProofs.Rule.margin_convolution.masses W v m n hm g θ fails t h
/-- What a step `margin_convolution` finds by arithmetic. The bounds of single classes by the theorem above, and adding them up, are part of it. -/
inductive Convolved (S : Setting) (C : CompactProofs.Circuits R) (r : R) (region : List Span) (right wrong : ℕ) : Prop where
  | intro (hr : right ≤ S.mass (fun t => both (S.inside region t) (holds (S.Sums C r t))))
      (hw : wrong ≤ S.mass (fun t => both (S.inside region t) (not (holds (S.Sums C r t))))) : Convolved S C r region right wrong
theorem Rule.margin_convolution.count (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (r : R) (region : List Span) (right wrong : ℕ)
    (h : Convolved S C r region right wrong) : S.Count S.logits r region right wrong :=
  match h with
  | .intro hr hw => S.count_of_sums C hC r region right wrong hr hw

-- part classes
/-- What a rule that counts by shapes finds by arithmetic: classes of inputs (a query `q`, an answer `m`, `c` other tokens among the free positions, all of
them good), no two of which agree in `q`, `m` and `c`, each of them inside the region and with what the rule needs to know of it. -/
inductive Classes (S : Setting) (needs : Class → Prop) (region : List Span) (right : ℕ) : Prop where
  | intro (l : List Class) (valid : Every (fun k => k.Valid S.tokens S.last) l) (apart : Apart l) (facts : Every needs l)
      (within : Every (fun k => ∀ t, k.has S.last t = true → S.inside region t = true) l) (size : right ≤ totalSize S.tokens S.last l) :
      Classes S needs region right
theorem class_counts (v n : ℕ) (t₀ : ℕ → ℕ) (p : (ℕ → ℕ) → Bool) : (l : List Class) → Every (fun k => k.Valid v n) l →
    Every (fun k => ∀ t, k.has n t = true → p t = true) l →
    Every (fun x => x.snd ≤ count v (Nat.succ n) (fun s => both (x.fst s) (p s)) t₀) (regions v n l)
  | .nil, _, _ => True.intro
  | .cons k l, hv, h =>
    ⟨nat_le_trans (replace (Class.count_eq hv.left t₀) (fun z => k.size v n ≤ z) (nat_le_refl _))
      (count_le (fun s _ hk => both_intro hk (h.left s hk))), class_counts v n t₀ p l hv.right h.right⟩
theorem every_right (S : Setting) (hN : S.length = Nat.succ S.last) (needs : Class → Prop) (r : R) (y : (ℕ → ℕ) → ℕ → R) (region : List Span)
    (sound : ∀ k, needs k → ∀ t, k.has S.last t = true → AboveBy (y t) S.outputs r k.m) : (l : List Class) →
    Every (fun k => k.Valid S.tokens S.last) l → Every needs l → Every (fun k => ∀ t, k.has S.last t = true → S.inside region t = true) l →
    Every (fun k => ∀ t, k.has S.last t = true → both (S.inside region t) (holds (S.Above r y t)) = true) l
  | .nil, _, _, _ => True.intro
  | .cons _ l, hv, hf, hw => ⟨fun t ht => both_intro (hw.left t ht) (holds_of
      (Eq.subst (motive := fun m => AboveBy (y t) S.outputs r m)
        ((Class.label_eq hv.left ht).symm.trans (congrArg (fun N => maxBelow N t) hN).symm) (sound _ hf.left t ht))),
      every_right S hN needs r y region sound l hv.right hf.right hw.right⟩
theorem classes_count (S : Setting) (hN : S.length = Nat.succ S.last) (hW : S.weight = fun _ _ => 1) (needs : Class → Prop) (r : R)
    (y : (ℕ → ℕ) → ℕ → R) (region : List Span) (right : ℕ)
    (sound : ∀ k, needs k → ∀ t, k.has S.last t = true → AboveBy (y t) S.outputs r k.m)
    (h : Classes S needs region right) : S.Count y r region right 0 :=
  match h with
  | .intro l valid apart facts within size =>
    ⟨nat_le_trans size (nat_le_trans
      (replace (total_regions S.tokens S.last l).symm (fun z => z ≤ count S.tokens (Nat.succ S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start)
        (CompactProofs.Rule.disjoint_union S.tokens (Nat.succ S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start
          (regions S.tokens S.last l) (disjoint_regions l valid apart)
          (class_counts S.tokens S.last S.start _ l valid
            (every_right S hN needs r y region sound l valid facts within))))
      (replace hW (fun W => count S.tokens (Nat.succ S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start ≤
          CompactProofs.mass W S.tokens S.length (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start)
        (replace hN (fun N => count S.tokens (Nat.succ S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start ≤
          CompactProofs.mass (fun _ _ => 1) S.tokens N (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start)
          (replace (massOver_uniform S.tokens (Nat.succ S.last) _ S.start)
            (fun z => count S.tokens (Nat.succ S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start ≤ z) (nat_le_refl _))))),
     nat_zero_le _⟩

-- part classes_eos
/-- What a rule that counts by shapes finds by arithmetic: classes of inputs (a query `q`, an answer `m`, `c` other tokens among the free positions, all of
them good), no two of which agree in `q`, `m` and `c`, each of them inside the region and with what the rule needs to know of it. -/
inductive Classes (S : Setting) (needs : Class → Prop) (region : List Span) (right : ℕ) : Prop where
  | intro (l : List Class) (valid : Every (fun k => k.ValidEos S.tokens S.last S.start) l) (apart : Apart l) (facts : Every needs l)
      (within : Every (fun k => ∀ t, k.has S.last t = true → S.inside region t = true) l) (size : right ≤ totalSize S.tokens S.last l) :
      Classes S needs region right
theorem class_counts (v n : ℕ) (t₀ : ℕ → ℕ) (p : (ℕ → ℕ) → Bool) : (l : List Class) → Every (fun k => k.ValidEos v n t₀) l →
    Every (fun k => ∀ t, k.has n t = true → p t = true) l →
    Every (fun x => x.snd ≤ count v n (fun s => both (x.fst s) (p s)) t₀) (regions v n l)
  | .nil, _, _ => True.intro
  | .cons k l, hv, h =>
    ⟨nat_le_trans (replace (Class.count_eos hv.left) (fun z => k.size v n ≤ z) (nat_le_refl _))
      (count_le (fun s _ hk => both_intro hk (h.left s hk))), class_counts v n t₀ p l hv.right h.right⟩
theorem every_right (S : Setting) (hN : S.length = S.last) (needs : Class → Prop) (r : R) (y : (ℕ → ℕ) → ℕ → R) (region : List Span)
    (sound : ∀ k, needs k → ∀ t, k.has S.last t = true → AboveBy (y t) S.outputs r k.m) : (l : List Class) →
    Every (fun k => k.ValidEos S.tokens S.last S.start) l → Every needs l → Every (fun k => ∀ t, k.has S.last t = true → S.inside region t = true) l →
    Every (fun k => ∀ t, k.has S.last t = true → both (S.inside region t) (holds (S.Above r y t)) = true) l
  | .nil, _, _, _ => True.intro
  | .cons _ l, hv, hf, hw => ⟨fun t ht => both_intro (hw.left t ht) (holds_of
      (Eq.subst (motive := fun m => AboveBy (y t) S.outputs r m)
        ((Class.label_eos hv.left ht).symm.trans (congrArg (fun N => maxBelow N t) hN).symm) (sound _ hf.left t ht))),
      every_right S hN needs r y region sound l hv.right hf.right hw.right⟩
theorem classes_count (S : Setting) (hN : S.length = S.last) (hW : S.weight = fun _ _ => 1) (needs : Class → Prop) (r : R)
    (y : (ℕ → ℕ) → ℕ → R) (region : List Span) (right : ℕ)
    (sound : ∀ k, needs k → ∀ t, k.has S.last t = true → AboveBy (y t) S.outputs r k.m)
    (h : Classes S needs region right) : S.Count y r region right 0 :=
  match h with
  | .intro l valid apart facts within size =>
    ⟨nat_le_trans size (nat_le_trans
      (replace (total_regions S.tokens S.last l).symm (fun z => z ≤ count S.tokens (S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start)
        (CompactProofs.Rule.disjoint_union S.tokens (S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start
          (regions S.tokens S.last l) (disjoint_regions_eos l valid apart)
          (class_counts S.tokens S.last S.start _ l valid
            (every_right S hN needs r y region sound l valid facts within))))
      (replace hW (fun W => count S.tokens (S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start ≤
          CompactProofs.mass W S.tokens S.length (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start)
        (replace hN (fun N => count S.tokens (S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start ≤
          CompactProofs.mass (fun _ _ => 1) S.tokens N (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start)
          (replace (massOver_uniform S.tokens (S.last) _ S.start)
            (fun z => count S.tokens (S.last) (fun t => both (S.inside region t) (holds (S.Above r y t))) S.start ≤ z) (nat_le_refl _))))),
     nat_zero_le _⟩

-- part pure_sequences
/-- **Rule `pure_sequences`** (the cubic proof). By `CompactProofs.Rule.pure_sequences`; `CubicFact` says what is checked of one class. -/
theorem Rule.pure_sequences (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (hN : LENGTH) (hW : S.weight = fun _ _ => 1)
    (r : R) (region : List Span) (right : ℕ) (h : Classes S (CubicFact C S.outputs S.last r) region right) : S.Count S.logits r region right 0 :=
  classes_count S hN hW (CubicFact C S.outputs S.last r) r S.logits region right
    (fun k fact t ht => match fact with
      | ⟨value, lo, hi, h1, h2, h3, h4⟩ => (S.correct_for C hC r t k.m).mp
          (CompactProofs.Rule.pure_sequences C S.outputs S.last r k value lo hi h1 h2 h3 h4 t ht)) h

-- part gap_classes
/-- What is checked of the class that holds the one input `m ... m`. -/
def ConstantFact (C : CompactProofs.Circuits R) (O n : ℕ) (r : R) (k : Class) : Prop :=
  k.c = 0 ∧ k.q = k.m ∧ ∀ o, o < O → o ≠ k.m → ∀ i, i < Nat.succ n → C.term r k.m i k.m o k.m < 0
theorem constant_class {k : Class} {n : ℕ} {t : ℕ → ℕ} (hc : k.c = 0) (hq : k.q = k.m) (ht : k.has n t = true) (i : ℕ) (hi : i < Nat.succ n) : t i = k.m :=
  (lt_or_eq_of_lt_succ hi).elim
    (fun h => match bool_cases (Nat.beq (t i) k.m) with
      | .inl e => beq_eq e
      | .inr e => (not_lt_zero (Eq.subst (motive := fun z => 0 < z) ((mixed_spec k.good k.m n k.c t (both_right ht)).right.trans hc)
          (pos_chosen (differs k.m t) n i h (replace e (fun b => not b = true) rfl)))).elim)
    (fun e => replace e (fun i => t i = k.m) ((beq_eq (both_left ht)).trans hq))
theorem at_one (G W l V one : R) (h : l + V ≤ one) : (G + l) + (1 * V + (1 - 1) * W) ≤ one + G :=
  le_of (sub_nonneg h) (ring (one :: G :: l :: V :: W :: []))
theorem gap_fact (C : CompactProofs.Circuits R) (hs : 0 ≤ C.scale) (O n : ℕ) (r : R) (k : Class) (fact : GapFact C O n r k) (t : ℕ → ℕ)
    (ht : k.has n t = true) : C.Correct O n r t k.m :=
  match fact with
  | ⟨_, approx, err, δ, x, y, lo, G, W, L, α, β, A, B, _, hA, hm, hδ, hL, hW, hx, hd, hn, hH, hv⟩ =>
    CompactProofs.Rule.gap_classes C O n r k x y (exp (C.scale * δ)) lo G W L hL hW hx.left (fun t ht => (hx.right t ht).left)
      (fun t ht => (hx.right t ht).right)
      (fun z hz ne => (CompactProofs.Rule.gap_classes.weight_ratio C hs k.q k.m z δ).left
        (le_trans (hδ z hz ne).right (hA k.q k.m z hm (hδ z hz ne).left).left))
      hd.left hd.right
      (fun o ho hne => CompactProofs.Rule.gap_classes.chord G W lo α β A B (L o) _ hn.left hn.right.left hn.right.right
        (hH o ho hne).left (hH o ho hne).right.left hv.left)
      (fun o ho hne => .inr (lt_of_le_of_lt (at_one G W (L o) (C.EVOU k.m o - C.EVOU k.m k.m) _ (hH o ho hne).right.right) hv.right)) t ht
/-- **Rule `gap_classes`** (the sub-cubic proof). By `CompactProofs.Rule.gap_classes`; `GapFact` says what is checked of one class, with an approximation of
the scores and a bound of its error that come from the rules `peel` and `row_...`. -/
theorem Rule.gap_classes (S : Setting) (C : CompactProofs.Circuits R) (hC : S.Circuits C) (hs : 0 ≤ C.scale) (hN : LENGTH)
    (hW : S.weight = fun _ _ => 1) (r : R) (region : List Span) (right : ℕ)
    (h : Classes S (fun k => GapFact C S.outputs S.last r k ∨ ConstantFact C S.outputs S.last r k) region right) : S.Count S.logits r region right 0 :=
  classes_count S hN hW _ r S.logits region right
    (fun k fact t ht => (S.correct_for C hC r t k.m).mp (fact.elim (fun f => gap_fact C hs S.outputs S.last r k f t ht)
      (fun f => CompactProofs.Rule.gap_classes.constant C S.outputs S.last r k.m f.right.right t
        (fun i hi => constant_class f.left f.right.left ht i hi)))) h

-- part disjoint_union
/-- Two spans have no class in common. -/
def Span.apart (a b : Span) : Bool := either (not (Nat.beq a.m b.m)) (either (Nat.ble a.high b.low) (Nat.ble b.high a.low))
def apartFrom (a : Span) : List Span → Bool
  | .nil => true
  | .cons b l => both (a.apart b) (apartFrom a l)
def apartAll : List Span → List Span → Bool
  | .nil, _ => true
  | .cons a l, k => both (apartFrom a k) (apartAll l k)
theorem within_apart (S : Setting) (a b : Span) (t : ℕ → ℕ) (h : a.apart b = true) (ha : S.within a t = true) (hb : S.within b t = true) : False :=
  (either_elim h).elim
    (fun k => match bool_cases (Nat.beq a.m b.m) with
      | .inl e => true_ne_false (Eq.subst (motive := fun b => not b = true) e k).symm
      | .inr e => ne_of_beq_false e ((beq_eq (both_left ha)).symm.trans (beq_eq (both_left hb))))
    (fun k => (either_elim k).elim
      (fun k => nat_lt_irrefl _ (nat_lt_of_lt_of_le (blt_lt (both_right (both_right ha))) (nat_le_trans (ble_le k) (ble_le (both_left (both_right hb))))))
      (fun k => nat_lt_irrefl _ (nat_lt_of_lt_of_le (blt_lt (both_right (both_right hb))) (nat_le_trans (ble_le k) (ble_le (both_left (both_right ha)))))))
theorem inside_from (S : Setting) (a : Span) (t : ℕ → ℕ) (ha : S.within a t = true) : (l : List Span) → apartFrom a l = true → S.inside l t = true → False
  | .nil, _, h => true_ne_false h.symm
  | .cons b l, k, h => (either_elim h).elim (fun hb => within_apart S a b t (both_left k) ha hb)
      (fun h => inside_from S a t ha l (both_right k) h)
theorem inside_apart (S : Setting) (t : ℕ → ℕ) (k : List Span) : (l : List Span) → apartAll l k = true → S.inside l t = true → S.inside k t = true → False
  | .nil, _, h, _ => true_ne_false h.symm
  | .cons a l, d, h, hk => (either_elim h).elim (fun ha => inside_from S a t ha k (both_left d) hk)
      (fun h => inside_apart S t k l (both_right d) h hk)
theorem inside_join (S : Setting) (t : ℕ → ℕ) (k : List Span) : (l : List Span) → S.inside (join l k) t = either (S.inside l t) (S.inside k t)
  | .nil => rfl
  | .cons a l => (congrArg (either (S.within a t)) (inside_join S t k l)).trans (match bool_cases (S.within a t) with
      | .inl e => replace e (fun b => either b (either (S.inside l t) (S.inside k t)) = either (either b (S.inside l t)) (S.inside k t)) rfl
      | .inr e => replace e (fun b => either b (either (S.inside l t) (S.inside k t)) = either (either b (S.inside l t)) (S.inside k t)) rfl)
theorem union_mass (S : Setting) (l k : List Span) (h : apartAll l k = true) (p : (ℕ → ℕ) → Bool) (a b : ℕ)
    (ha : a ≤ S.mass (fun t => both (S.inside l t) (p t))) (hb : b ≤ S.mass (fun t => both (S.inside k t) (p t))) :
    a + b ≤ S.mass (fun t => both (S.inside (join l k) t) (p t)) :=
  CompactProofs.Rule.disjoint_union.masses S.weight S.tokens S.length (fun t => both (S.inside (join l k) t) (p t)) S.start
    (⟨S.inside l, a⟩ :: ⟨S.inside k, b⟩ :: .nil)
    ⟨fun t ht => ⟨eq_false_of_ne_true (fun hk => inside_apart S t k l h ht hk), True.intro⟩, fun _ _ => True.intro, True.intro⟩
    ⟨nat_le_trans ha (mass_le (fun t _ c => both_intro (both_left c) (both_intro
        (replace (inside_join S t k l) (fun z => z = true) (replace (both_left c) (fun z => either z (S.inside k t) = true) rfl)) (both_right c)))),
      nat_le_trans hb (mass_le (fun t _ c => both_intro (both_left c) (both_intro
        (replace (inside_join S t k l) (fun z => z = true) (match bool_cases (S.inside l t) with
          | .inl e => replace e (fun z => either z (S.inside k t) = true) rfl
          | .inr e => replace e (fun z => either z (S.inside k t) = true) (both_left c))) (both_right c)))), True.intro⟩
/-- **Rule `disjoint_union`**, of two regions. By `CompactProofs.Rule.disjoint_union.masses`. -/
theorem Rule.disjoint_union (S : Setting) (y : (ℕ → ℕ) → ℕ → R) (r : R) (l k : List Span) (a b c d : ℕ) (h : apartAll l k = true)
    (hl : S.Count y r l a b) (hk : S.Count y r k c d) : S.Count y r (join l k) (a + c) (b + d) :=
  ⟨union_mass S l k h (fun t => holds (S.Above r y t)) a c hl.right hk.right,
   union_mass S l k h (fun t => not (holds (S.Above r y t))) b d hl.wrong hk.wrong⟩

-- part conclude
/-- **Rule `conclude`**: inputs outside the region may be either. By `CompactProofs.Rule.conclude.masses`. -/
theorem Rule.conclude (S : Setting) (y : (ℕ → ℕ) → ℕ → R) (r : R) (region : List Span) (right wrong : ℕ) (h : S.Count y r region right wrong) :
    right ≤ S.mass (fun t => holds (S.Above r y t)) ∧
    S.mass (fun t => holds (S.Above r y t)) ≤ totalMass S.weight S.tokens S.length - wrong :=
  CompactProofs.Rule.conclude.masses S.weight S.tokens S.length right wrong (fun t => holds (S.Above r y t)) (S.inside region) S.start h.right h.wrong
/-- The claim, with the numbers that it states. -/
theorem Rule.conclude.bounds (S : Setting) (y : (ℕ → ℕ) → ℕ → R) (r : R) (region : List Span) (right wrong total lower upper : ℕ)
    (h : S.Count y r region right wrong) (ht : totalMass S.weight S.tokens S.length = total) (hl : right = lower) (hu : total - wrong = upper) :
    lower ≤ S.mass (fun t => holds (S.Above r y t)) ∧ S.mass (fun t => holds (S.Above r y t)) ≤ upper :=
  ⟨Eq.subst (motive := fun x => x ≤ S.mass (fun t => holds (S.Above r y t))) hl (Rule.conclude S y r region right wrong h).left,
   Eq.subst (motive := fun x => S.mass (fun t => holds (S.Above r y t)) ≤ x) hu
    (Eq.subst (motive := fun x => S.mass (fun t => holds (S.Above r y t)) ≤ x - wrong) ht (Rule.conclude S y r region right wrong h).right)⟩
theorem total_uniform (v : ℕ) : (n : ℕ) → totalMass (fun _ _ => 1) v n = pow v n
  | .zero => rfl
  | .succ n => (nat_mul_congr (sumNat_const v 1) (total_uniform v n)).trans (nat_mul_congr (nat_zero_add v) rfl)

-- part float_error
/-- **Rule `float_error`**: no logit of the program is further than `ε` from that of the network. That this follows from a description of the program's
arithmetic is `CompactProofs.Rule.float_error`; here it is a hypothesis of the claim. -/
def Near (T : Task) (y z : (ℕ → ℕ) → ℕ → ℝ) (ε : ℝ) : Prop := ∀ t, T.Input t → ∀ o, z t o - y t o ≤ ε ∧ y t o - z t o ≤ ε

-- part float_count
/-- The threshold `s` is above `r` by two errors or more. -/
def FarBy (r ε s : R) : Prop := r + (ε + ε) ≤ s
/-- The number `z` is within `ε` of `y`. -/
def Off (y z ε : R) : Prop := z - y ≤ ε ∧ y - z ≤ ε
theorem off_of (y z ε : R) (h : @LE.le ℝ _ (@HSub.hSub ℝ ℝ ℝ _ z y) ε ∧ @LE.le ℝ _ (@HSub.hSub ℝ ℝ ℝ _ y z) ε) : Off y z ε :=
  ⟨Eq.subst (motive := fun d : R => d ≤ ε) (sub_eq z y) h.left, Eq.subst (motive := fun d : R => d ≤ ε) (sub_eq y z) h.right⟩
/-- **Rule `float_count`**: counts over the real numbers at thresholds that are further away by two errors are counts of the program.
By `CompactProofs.Rule.float_count.input`. -/
theorem Rule.float_count (S : Setting) (y z : (ℕ → ℕ) → ℕ → R) (r r₁ r₂ ε : R) (region : List Span) (right a wrong b : ℕ)
    (hz : ∀ t, S.Input t → ∀ o, Off (y t o) (z t o) ε) (h₁ : FarBy r ε r₁) (h₂ : FarBy r₂ ε r)
    (hr : S.Count y r₁ region right a) (hw : S.Count y r₂ region b wrong) : S.Count z r region right wrong :=
  ⟨nat_le_trans hr.right (mass_le (fun t ht k => both_intro (both_left k) (holds_of
      ((CompactProofs.Rule.float_count.input (y t) (z t) S.outputs (S.answer t) r r₁ ε (hz t ht)).left h₁ (of_holds (both_right k)))))),
   nat_le_trans hw.wrong (mass_le (fun t ht k => both_intro (both_left k) (not_holds
      ((CompactProofs.Rule.float_count.input (y t) (z t) S.outputs (S.answer t) r r₂ ε (hz t ht)).right h₂ (of_not_holds (both_right k))))))⟩
/-- The same without a second count. -/
theorem Rule.float_count.right (S : Setting) (y z : (ℕ → ℕ) → ℕ → R) (r r₁ ε : R) (region : List Span) (right a : ℕ)
    (hz : ∀ t, S.Input t → ∀ o, Off (y t o) (z t o) ε) (h₁ : FarBy r ε r₁)
    (hr : S.Count y r₁ region right a) : S.Count z r region right 0 :=
  ⟨nat_le_trans hr.right (mass_le (fun t ht k => both_intro (both_left k) (holds_of
      ((CompactProofs.Rule.float_count.input (y t) (z t) S.outputs (S.answer t) r r₁ ε (hz t ht)).left h₁ (of_holds (both_right k)))))),
   nat_zero_le _⟩
theorem near_max (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) (z : (ℕ → ℕ) → ℕ → ℝ) (ε : ℝ) (h : Near T (N.logit T.last) z ε) :
    ∀ t, (N.setting T W).Input t → ∀ o, Off ((N.setting T W).logits t o) (z t o) ε :=
  fun t ht o => Eq.subst (motive := fun y : (ℕ → ℕ) → ℕ → R => Off (y t o) (z t o) ε) (N.logits_setting T W)
    (off_of (N.logit T.last t o) (z t o) ε (h t ht o))
theorem near_min (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) (z : (ℕ → ℕ) → ℕ → ℝ) (ε : ℝ) (hs : ∀ i, T.tokens ≤ T.start i)
    (h : Near T (N.logit T.last) z ε) :
    ∀ t, (N.renumbered T W).Input t → ∀ o, Off ((N.renumbered T W).logits t o) (renumbered T.tokens z t o) ε :=
  fun t ht o => Eq.subst (motive := fun y : (ℕ → ℕ) → ℕ → R => Off (y t o) (renumbered T.tokens z t o) ε) (N.logits_renumbered T W)
    (off_of (N.logit T.last (mirror T.tokens t) (reverse T.tokens o)) (renumbered T.tokens z t o) ε
      (h (mirror T.tokens t) ⟨fun i hi => reverse_lt (ht.left i hi),
        fun i hi => (congrArg (reverse T.tokens) (ht.right i hi)).trans (reverse_above (hs i))⟩ (reverse T.tokens o)))
end
end CompactProofs.Export
