import Mathlib
import Export.Network
import CompactProofs.Masses
import CompactProofs.Minimum
import CompactProofs.Floating
/-!
# The real numbers as a field with an exponential, and the network as the model of the theorems

This file is the same for every certificate. The theorems in `CompactProofs` hold over every `ExpField`; here the real numbers become one, under a name of their
own (`R`), so that no two notions of `+` or `<` are ever in sight of each other. What follows shows that the definitions of `Network.lean` are those of the
theorems.
-/
namespace CompactProofs.Export
noncomputable section

/-! ## The field -/
def R : Type := ℝ

instance : ExpField R where
  add := fun (a b : ℝ) => (a + b : ℝ)
  mul := fun (a b : ℝ) => (a * b : ℝ)
  neg := fun (a : ℝ) => (-a : ℝ)
  le := fun (a b : ℝ) => a ≤ b
  zero := (0 : ℝ)
  one := (1 : ℝ)
  inv := fun (a : ℝ) => (a⁻¹ : ℝ)
  exp := fun (a : ℝ) => Real.exp a
  add_assoc := fun (a b c : ℝ) => _root_.add_assoc a b c
  add_comm := fun (a b : ℝ) => _root_.add_comm a b
  add_zero := fun (a : ℝ) => _root_.add_zero a
  add_neg := fun (a : ℝ) => _root_.add_neg_cancel a
  mul_assoc := fun (a b c : ℝ) => _root_.mul_assoc a b c
  mul_comm := fun (a b : ℝ) => _root_.mul_comm a b
  mul_one := fun (a : ℝ) => _root_.mul_one a
  mul_add := fun (a b c : ℝ) => _root_.mul_add a b c
  mul_inv := fun (a : ℝ) (h : a ≠ 0) => _root_.mul_inv_cancel₀ h
  zero_ne_one := (_root_.zero_ne_one : (0 : ℝ) ≠ 1)
  le_trans := fun (a b c : ℝ) (h : a ≤ b) (k : b ≤ c) => _root_.le_trans h k
  le_antisymm := fun (a b : ℝ) (h : a ≤ b) (k : b ≤ a) => _root_.le_antisymm h k
  le_total := fun (a b : ℝ) => _root_.le_total a b
  le_decide := fun (a b : ℝ) => Classical.em (a ≤ b)
  add_le_add_left := fun (a b c : ℝ) (h : a ≤ b) => _root_.add_le_add (_root_.le_refl c) h
  mul_nonneg := fun (a b : ℝ) (h : 0 ≤ a) (k : 0 ≤ b) => _root_.mul_nonneg h k
  exp_add := fun (a b : ℝ) => Real.exp_add a b
  one_add_le_exp := fun (a : ℝ) => Eq.subst (motive := fun z : ℝ => z ≤ Real.exp a) (_root_.add_comm a 1) (Real.add_one_le_exp a)

theorem sub_eq (a b : R) : @HSub.hSub ℝ ℝ ℝ _ a b = a - b := _root_.sub_eq_add_neg (a : ℝ) (b : ℝ)
theorem div_eq (a b : R) : @HDiv.hDiv ℝ ℝ ℝ _ a b = a / b := _root_.div_eq_mul_inv (a : ℝ) (b : ℝ)
theorem lt_iff (a b : R) : @LT.lt ℝ _ a b ↔ a < b := ⟨_root_.not_le.mpr, _root_.not_le.mp⟩

/-! ## The network -/
theorem sum_eq (f : ℕ → ℝ) : (n : ℕ) → ((Finset.range n).sum f : ℝ) = CompactProofs.sum (F := R) n f
  | .zero => Finset.sum_range_zero f
  | .succ n => (Finset.sum_range_succ f n).trans (congrArg (fun z : ℝ => z + f n) (sum_eq f n))
theorem sum_of {f : ℕ → ℝ} {g : ℕ → R} (n : ℕ) (h : ∀ i, (f i : R) = g i) : ((Finset.range n).sum f : ℝ) = CompactProofs.sum (F := R) n g :=
  (sum_eq f n).trans (CompactProofs.sum_congr (F := R) (n := n) (fun i _ => h i))

/-- The network as the model of the theorems. -/
def Network.model (N : Network) : Model R where
  dModel := N.d_model
  dHead := N.d_head
  E := N.W_E
  P := N.W_pos
  WQ := N.W_Q
  WK := N.W_K
  WV := N.W_V
  WO := N.W_O
  U := N.W_U
  bQ := N.b_Q
  bK := N.b_K
  bV := N.b_V
  bO := N.b_O
  bU := N.b_U
  scale := ((Real.sqrt (Nat.cast N.d_head))⁻¹ : ℝ)

theorem Network.scale_nonneg (N : Network) : (0 : R) ≤ N.model.scale := _root_.inv_nonneg.mpr (Real.sqrt_nonneg (Nat.cast N.d_head))
theorem Network.query_eq (N : Network) (n x h : ℕ) : (N.query n x h : R) = N.model.query n x h :=
  add_congr (F := R) (sum_of N.d_model (fun _ => rfl)) rfl
theorem Network.key_eq (N : Network) (i x h : ℕ) : (N.key i x h : R) = N.model.key i x h :=
  add_congr (F := R) (sum_of N.d_model (fun _ => rfl)) rfl
theorem Network.value_eq (N : Network) (i x h : ℕ) : (N.value i x h : R) = N.model.value i x h :=
  add_congr (F := R) (sum_of N.d_model (fun _ => rfl)) rfl
theorem Network.score_eq (N : Network) (n : ℕ) (t : ℕ → ℕ) (i : ℕ) : (N.score n t i : R) = N.model.score n t i :=
  mul_congr (F := R) rfl (sum_of N.d_head (fun h => mul_congr (F := R) (N.query_eq n (t n) h) (N.key_eq i (t i) h)))
theorem Network.attention_eq (N : Network) (n : ℕ) (t : ℕ → ℕ) (i : ℕ) : (N.attention n t i : R) = N.model.attention n t i :=
  (div_eq _ _).trans (mul_congr (F := R) (congrArg Real.exp (N.score_eq n t i))
    (congrArg (fun z : ℝ => z⁻¹) (sum_of (Nat.succ n) (fun j => congrArg Real.exp (N.score_eq n t j)))))
theorem Network.head_eq (N : Network) (n : ℕ) (t : ℕ → ℕ) (h : ℕ) : (N.head n t h : R) = N.model.head n t h :=
  sum_of (Nat.succ n) (fun i => mul_congr (F := R) (N.attention_eq n t i) (N.value_eq i (t i) h))
/-- The logits of `Network.lean` are those of the theorems. -/
theorem Network.logit_eq (N : Network) (n : ℕ) (t : ℕ → ℕ) (o : ℕ) : (N.logit n t o : R) = N.model.logit n t o :=
  add_congr (F := R) (sum_of N.d_model (fun l => mul_congr (F := R) (add_congr (F := R) rfl
    (add_congr (F := R) (sum_of N.d_head (fun h => mul_congr (F := R) (N.head_eq n t h) rfl)) rfl)) rfl)) rfl

/-! ## Masses -/
theorem sum_nat_eq (f : ℕ → ℕ) : (n : ℕ) → (Finset.range n).sum f = sumNat n f
  | .zero => Finset.sum_range_zero f
  | .succ n => (Finset.sum_range_succ f n).trans (congrArg (fun z : ℕ => z + f n) (sum_nat_eq f n))
theorem inputs_eq (W : ℕ → ℕ → ℕ) (v : ℕ) (f : (ℕ → ℕ) → ℕ) : (n : ℕ) → (t : ℕ → ℕ) → sumInputs W v n f t = massOver W v n f t
  | .zero, _ => rfl
  | .succ n, t => (sum_nat_eq _ v).trans (sumNat_congr (fun x _ => congrArg (fun z : ℕ => W n x * z) (inputs_eq W v f n (put t n x))))

/-- A proposition as a truth value. -/
def holds (P : Prop) : Bool := @decide P (Classical.propDecidable P)
theorem holds_of {P : Prop} (h : P) : holds P = true := @decide_eq_true P (Classical.propDecidable P) h
theorem of_holds {P : Prop} (h : holds P = true) : P := @of_decide_eq_true P (Classical.propDecidable P) h
theorem holds_congr {P Q : Prop} (h : P ↔ Q) : holds P = holds Q := congrArg holds (propext h)
theorem not_holds {P : Prop} (h : ¬ P) : not (holds P) = true := replace (eq_false_of_ne_true (fun k => h (of_holds k))) (fun b => not b = true) rfl
theorem of_not_holds {P : Prop} (h : not (holds P) = true) : ¬ P := fun k =>
  true_ne_false (Eq.subst (motive := fun b => not b = true) (holds_of k) h).symm
theorem indicator_eq (P : Prop) : indicator P = one (holds P) := match bool_cases (holds P) with
  | .inl h => (congrArg Bool.toNat h).trans (congrArg one h).symm
  | .inr h => (congrArg Bool.toNat h).trans (congrArg one h).symm
theorem Task.mass_eq (T : Task) (W : ℕ → ℕ → ℕ) (P : (ℕ → ℕ) → Prop) :
    T.mass W P = CompactProofs.mass W T.tokens T.length (fun t => holds (P t)) T.start :=
  (inputs_eq W T.tokens _ T.length T.start).trans (massOver_congr (fun t _ => indicator_eq (P t)))

/-! ## What a proof is about: the network and the task, or for the smallest token both with the tokens renumbered in reverse -/
structure Setting where
  model : Model R
  outputs : ℕ
  /-- the position of the query -/
  last : ℕ
  length : ℕ
  tokens : ℕ
  weight : ℕ → ℕ → ℕ
  start : ℕ → ℕ

def Setting.answer (S : Setting) (t : ℕ → ℕ) : ℕ := maxBelow S.length t
/-- The logits of the model. -/
def Setting.logits (S : Setting) (t : ℕ → ℕ) (o : ℕ) : R := S.model.logit S.last t o
/-- The margin of the logits `y` is above `r`. -/
def Setting.Above (S : Setting) (r : R) (y : (ℕ → ℕ) → ℕ → R) (t : ℕ → ℕ) : Prop := AboveBy (y t) S.outputs r (S.answer t)
def Setting.mass (S : Setting) (p : (ℕ → ℕ) → Bool) : ℕ := CompactProofs.mass S.weight S.tokens S.length p S.start
def Setting.Input (S : Setting) (t : ℕ → ℕ) : Prop := Fills S.tokens S.length S.start t

/-- The classes (q, m) with `low ≤ q < high`: the inputs with answer `m` and query `q` (0, if the query is an end-of-sequence token). -/
structure Span where
  m : ℕ
  low : ℕ
  high : ℕ
def Setting.queryOf (S : Setting) (t : ℕ → ℕ) : ℕ := match Nat.beq S.last S.length with
  | true => 0
  | false => t S.last
def Setting.within (S : Setting) (s : Span) (t : ℕ → ℕ) : Bool :=
  both (Nat.beq (S.answer t) s.m) (both (Nat.ble s.low (S.queryOf t)) (blt (S.queryOf t) s.high))
/-- The region of a list of spans. -/
def Setting.inside (S : Setting) : List Span → (ℕ → ℕ) → Bool
  | [], _ => false
  | s :: l, t => either (S.within s t) (S.inside l t)

/-- **The fact `Count`**: in the region, the mass of the inputs with a margin above `r` is at least `right`, and that of the others at least `wrong`. -/
structure Setting.Count (S : Setting) (y : (ℕ → ℕ) → ℕ → R) (r : R) (region : List Span) (right wrong : ℕ) : Prop where
  right : right ≤ S.mass (fun t => both (S.inside region t) (holds (S.Above r y t)))
  wrong : wrong ≤ S.mass (fun t => both (S.inside region t) (not (holds (S.Above r y t))))

/-! ## From the setting back to the task -/
theorem field_margin_iff (a b r : R) : r < a - b ↔ (b - a) + r < 0 :=
  ⟨fun h => lt_of (sub_pos h) (ring (a :: b :: r :: [])), fun h => lt_of (sub_pos h) (ring (a :: b :: r :: []))⟩
theorem margin_iff (a b r : R) : @LT.lt ℝ _ r (@HSub.hSub ℝ ℝ ℝ _ a b) ↔ (b - a) + r < 0 :=
  ⟨fun h => (field_margin_iff a b r).mp (Eq.subst (motive := fun z : R => r < z) (sub_eq a b) ((lt_iff r _).mp h)),
   fun h => (lt_iff r _).mpr (Eq.subst (motive := fun z : R => r < z) (sub_eq a b).symm ((field_margin_iff a b r).mpr h))⟩
theorem above_iff (T : Task) (r : ℝ) (y : (ℕ → ℕ) → ℕ → ℝ) (t : ℕ → ℕ) (m : ℕ) (h : T.Answer t m) (unique : ∀ k, T.Answer t k → k = m) :
    T.Above r y t ↔ AboveBy (F := R) (y t) T.outputs r m :=
  ⟨fun above o ho hne => (margin_iff (y t m) (y t o) r).mp (above m h o ho hne),
   fun above k hk o ho hne => Eq.subst (motive := fun m => r < y t m - y t o) (unique k hk).symm
      ((margin_iff (y t m) (y t o) r).mpr (above o ho (Eq.subst (motive := fun m => o ≠ m) (unique k hk) hne)))⟩

theorem Task.beats_max {T : Task} (h : T.smallest = false) (m x : ℕ) : T.Beats m x ↔ x ≤ m :=
  replace h (fun b => (match b with | true => m ≤ x | false => x ≤ m) ↔ x ≤ m) ⟨id, id⟩
theorem Task.beats_min {T : Task} (h : T.smallest = true) (m x : ℕ) : T.Beats m x ↔ m ≤ x :=
  replace h (fun b => (match b with | true => m ≤ x | false => x ≤ m) ↔ m ≤ x) ⟨id, id⟩

theorem max_attained {k : ℕ} (t : ℕ → ℕ) : Exists fun i => i < Nat.succ k ∧ t i = maxBelow (Nat.succ k) t := match label_attained k t with
  | ⟨i, hi, e⟩ => ⟨i, hi, e.symm⟩

theorem max_iff (T : Task) (h : T.smallest = false) (k : ℕ) (hk : T.length = Nat.succ k) (r : ℝ) (y : (ℕ → ℕ) → ℕ → ℝ) (t : ℕ → ℕ) :
    T.Above r y t ↔ AboveBy (F := R) (y t) T.outputs r (maxBelow T.length t) :=
  above_iff T r y t (maxBelow T.length t)
    ⟨Eq.subst (motive := fun n => Exists fun i => i < n ∧ t i = maxBelow n t) hk.symm (max_attained t),
      fun i hi => (Task.beats_max h _ _).mpr (le_maxBelow T.length t i hi)⟩
    (fun m hm => match hm.left with
      | ⟨i, hi, e⟩ => nat_le_antisymm (Eq.subst (motive := fun x => x ≤ maxBelow T.length t) e (le_maxBelow T.length t i hi))
          (maxBelow_le (fun i hi => (Task.beats_max h _ _).mp (hm.right i hi))))

/-- The setting of a network and a task for the largest token. -/
def Network.setting (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) : Setting where
  model := N.model
  outputs := T.outputs
  last := T.last
  length := T.length
  tokens := T.tokens
  weight := W
  start := T.start

theorem mass_max (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) (h : T.smallest = false) (k : ℕ) (hk : T.length = Nat.succ k) (r : ℝ)
    (y : (ℕ → ℕ) → ℕ → ℝ) : T.mass W (T.Above r y) = (N.setting T W).mass (fun t => holds ((N.setting T W).Above r y t)) :=
  (T.mass_eq W (T.Above r y)).trans (mass_congr (fun t _ => holds_congr (max_iff T h k hk r y t)))

/-! ### The smallest token -/
/-- The tokens of an input in reverse. -/
def mirror (v : ℕ) (t : ℕ → ℕ) (i : ℕ) : ℕ := reverse v (t i)
theorem mirror_mirror (v : ℕ) (t : ℕ → ℕ) : mirror v (mirror v t) = t := funext (fun i => reverse_reverse v (t i))
theorem mirror_update (v : ℕ) (t : ℕ → ℕ) (n x : ℕ) : mirror v (update t n x) = update (mirror v t) n (reverse v x) :=
  funext (fun i => (nat_eq_or_ne i n).elim
    (fun e => replace e (fun i => mirror v (update t n x) i = update (mirror v t) n (reverse v x) i)
      ((congrArg (reverse v) (update_same t n x)).trans (update_same (mirror v t) n (reverse v x)).symm))
    (fun ne => (congrArg (reverse v) (update_other t x ne)).trans (update_other (mirror v t) (reverse v x) ne).symm))
theorem mass_mirror (W : ℕ → ℕ → ℕ) (v : ℕ) (f : (ℕ → ℕ) → ℕ) : (n : ℕ) → (t : ℕ → ℕ) →
    massOver W v n (fun s => f (mirror v s)) t = massOver (fun i x => W i (reverse v x)) v n f (mirror v t)
  | .zero, _ => rfl
  | .succ n, t =>
    (sumNat_congr (fun x hx => nat_mul_congr
      (congrArg (W n) (Eq.subst (motive := fun y => x = reverse v y) (reverse_below hx) (reverse_reverse v x).symm))
      ((mass_mirror W v f n (update t n x)).trans (congrArg (massOver (fun i x => W i (reverse v x)) v n f)
        ((mirror_update v t n x).trans (congrArg (update (mirror v t) n) (reverse_below hx))))))).trans
    (sumNat_backwards v (fun y => W n (reverse v y) * massOver (fun i x => W i (reverse v x)) v n f (update (mirror v t) n y)))

/-- The logits with tokens and outputs renumbered. -/
def renumbered (v : ℕ) (y : (ℕ → ℕ) → ℕ → ℝ) (t : ℕ → ℕ) (o : ℕ) : ℝ := y (mirror v t) (reverse v o)

theorem reverse_outputs {v O : ℕ} (hO : v ≤ O) {o : ℕ} (ho : o < O) : reverse v o < O :=
  (nat_lt_or_le o v).elim (fun h => nat_lt_of_lt_of_le (reverse_lt h) hO) (fun h => replace (reverse_above h) (fun y => y < O) ho)

theorem min_above (v O : ℕ) (hO : v ≤ O) (z : ℕ → R) (r : R) (m : ℕ) :
    AboveBy z O r (reverse v m) ↔ AboveBy (fun o => z (reverse v o)) O r m :=
  ⟨fun h o ho hne => h (reverse v o) (reverse_outputs hO ho)
      (fun e => hne ((reverse_reverse v o).symm.trans ((congrArg (reverse v) e).trans (reverse_reverse v m)))),
   fun h o ho hne => Eq.subst (motive := fun x => (z x - z (reverse v m)) + r < 0) (reverse_reverse v o)
      (h (reverse v o) (reverse_outputs hO ho) (fun e => hne ((reverse_reverse v o).symm.trans (congrArg (reverse v) e))))⟩

theorem min_answer (T : Task) (h : T.smallest = true) (k : ℕ) (hk : T.length = Nat.succ k) (t : ℕ → ℕ) (ht : T.Input t) :
    T.Answer t (reverse T.tokens (maxBelow T.length (mirror T.tokens t))) :=
  match Eq.subst (motive := fun n => Exists fun i => i < n ∧ mirror T.tokens t i = maxBelow n (mirror T.tokens t)) hk.symm (max_attained (mirror T.tokens t)) with
  | ⟨i, hi, e⟩ =>
    ⟨⟨i, hi, (reverse_reverse T.tokens (t i)).symm.trans (congrArg (reverse T.tokens) e)⟩,
      fun j hj => (Task.beats_min h _ _).mpr (Eq.subst (motive := fun x => x ≤ t j)
        ((reverse_reverse T.tokens (t i)).symm.trans (congrArg (reverse T.tokens) e))
        (reverse_le (ht.left j hj) (ht.left i hi) (replace e (fun x => mirror T.tokens t j ≤ x) (le_maxBelow T.length (mirror T.tokens t) j hj))))⟩

theorem min_unique (T : Task) (h : T.smallest = true) (t : ℕ → ℕ) (m k : ℕ) (hm : T.Answer t m) (hk : T.Answer t k) : k = m :=
  match hm.left, hk.left with
  | ⟨i, hi, e⟩, ⟨j, hj, f⟩ => nat_le_antisymm
      (Eq.subst (motive := fun x => k ≤ x) e ((Task.beats_min h _ _).mp (hk.right i hi)))
      (Eq.subst (motive := fun x => m ≤ x) f ((Task.beats_min h _ _).mp (hm.right j hj)))

theorem min_iff (T : Task) (h : T.smallest = true) (k : ℕ) (hk : T.length = Nat.succ k) (hO : T.tokens ≤ T.outputs) (r : ℝ)
    (y : (ℕ → ℕ) → ℕ → ℝ) (t : ℕ → ℕ) (ht : T.Input t) :
    T.Above r y t ↔ AboveBy (F := R) (renumbered T.tokens y (mirror T.tokens t)) T.outputs r (maxBelow T.length (mirror T.tokens t)) :=
  replace (congrArg (fun s => fun o => y s (reverse T.tokens o)) (mirror_mirror T.tokens t))
    (fun z : ℕ → R => T.Above r y t ↔ AboveBy (F := R) z T.outputs r (maxBelow T.length (mirror T.tokens t)))
    (Iff.intro
      (fun above => (min_above T.tokens T.outputs hO (y t) r _).mp ((above_iff T r y t _ (min_answer T h k hk t ht)
        (fun m hm => min_unique T h t _ m (min_answer T h k hk t ht) hm)).mp above))
      (fun above => (above_iff T r y t _ (min_answer T h k hk t ht)
        (fun m hm => min_unique T h t _ m (min_answer T h k hk t ht) hm)).mpr ((min_above T.tokens T.outputs hO (y t) r _).mpr above)))

/-- The setting of a network and a task for the smallest token: tokens, outputs and weights are renumbered. -/
def Network.renumbered (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) : Setting where
  model := N.model.reversed T.tokens
  outputs := T.outputs
  last := T.last
  length := T.length
  tokens := T.tokens
  weight i x := W i (reverse T.tokens x)
  start := T.start

theorem mass_min (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) (h : T.smallest = true) (k : ℕ) (hk : T.length = Nat.succ k) (hO : T.tokens ≤ T.outputs)
    (hs : ∀ i, T.tokens ≤ T.start i) (r : ℝ) (y : (ℕ → ℕ) → ℕ → ℝ) :
    T.mass W (T.Above r y) = (N.renumbered T W).mass (fun t => holds ((N.renumbered T W).Above r (Export.renumbered T.tokens y) t)) :=
  (T.mass_eq W (T.Above r y)).trans
    ((mass_congr (fun t ht => holds_congr (min_iff T h k hk hO r y t ht))).trans
      ((mass_mirror W T.tokens (fun t => one (holds ((N.renumbered T W).Above r (Export.renumbered T.tokens y) t))) T.length T.start).trans
        (congrArg (CompactProofs.mass (fun i x => W i (reverse T.tokens x)) T.tokens T.length
          (fun t => holds ((N.renumbered T W).Above r (Export.renumbered T.tokens y) t))) (funext (fun i => reverse_above (hs i))))))

/-! ### The network itself -/
theorem Network.logits_setting (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) : N.logit T.last = (N.setting T W).logits :=
  funext (fun t => funext (fun o => N.logit_eq T.last t o))
theorem Network.logits_renumbered (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) :
    Export.renumbered T.tokens (N.logit T.last) = (N.renumbered T W).logits :=
  funext (fun t => funext (fun o => N.logit_eq T.last (mirror T.tokens t) (reverse T.tokens o)))
theorem network_max (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) (h : T.smallest = false) (k : ℕ) (hk : T.length = Nat.succ k) (r : ℝ) :
    T.mass W (T.Above r (N.logit T.last)) = (N.setting T W).mass (fun t => holds ((N.setting T W).Above r (N.setting T W).logits t)) :=
  Eq.subst (motive := fun y : (ℕ → ℕ) → ℕ → R => T.mass W (T.Above r (N.logit T.last)) = (N.setting T W).mass (fun t => holds ((N.setting T W).Above r y t)))
    (N.logits_setting T W) (mass_max N T W h k hk r (N.logit T.last))
theorem network_min (N : Network) (T : Task) (W : ℕ → ℕ → ℕ) (h : T.smallest = true) (k : ℕ) (hk : T.length = Nat.succ k) (hO : T.tokens ≤ T.outputs)
    (hs : ∀ i, T.tokens ≤ T.start i) (r : ℝ) :
    T.mass W (T.Above r (N.logit T.last)) = (N.renumbered T W).mass (fun t => holds ((N.renumbered T W).Above r (N.renumbered T W).logits t)) :=
  Eq.subst (motive := fun y : (ℕ → ℕ) → ℕ → R => T.mass W (T.Above r (N.logit T.last)) = (N.renumbered T W).mass (fun t => holds ((N.renumbered T W).Above r y t)))
    (N.logits_renumbered T W) (mass_min N T W h k hk hO hs r (N.logit T.last))
end
end CompactProofs.Export
