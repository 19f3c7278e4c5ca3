import CompactProofs.Soundness
/-!
# Minimum tasks

For a task whose right answer is the smallest token, the checker renumbers the tokens in reverse, in the embedding and in the outputs, and goes on as for the largest token. Here is why.
-/
namespace CompactProofs
noncomputable section
variable {F : Type} [ExpField F]

/-- The tokens `0, ..., v - 1` in reverse; anything else (an end-of-sequence token, a further output) stays. -/
def reverse (v x : Nat) : Nat := match blt x v with
  | true => v - Nat.succ x
  | false => x

theorem reverse_below {v x : Nat} (h : x < v) : reverse v x = v - Nat.succ x :=
  replace (lt_blt h) (fun b => (match b with | true => v - Nat.succ x | false => x) = v - Nat.succ x) rfl
theorem reverse_above {v x : Nat} (h : v ≤ x) : reverse v x = x :=
  replace (eq_false_of_ne_true (fun k => nat_lt_irrefl v (nat_lt_of_le_of_lt h (blt_lt k))) : blt x v = false)
    (fun b => (match b with | true => v - Nat.succ x | false => x) = x) rfl
theorem reverse_sum {v x : Nat} (h : x < v) : (v - Nat.succ x) + Nat.succ x = v := sub_add_cancel_of_le (Nat.succ x) h
theorem reverse_lt {v x : Nat} (h : x < v) : reverse v x < v :=
  replace (reverse_below h) (fun y => y < v)
    (Eq.subst (motive := fun z => v - Nat.succ x < z) (reverse_sum h) (succ_le_succ (nat_le_add_right (v - Nat.succ x) x)))
theorem reverse_reverse (v x : Nat) : reverse v (reverse v x) = x :=
  (nat_lt_or_le x v).elim
    (fun h =>
      have k : v - Nat.succ x < v := Eq.subst (motive := fun y => y < v) (reverse_below h) (reverse_lt h)
      replace (reverse_below h) (fun y => reverse v y = x) (replace (reverse_below k) (fun y => y = x)
        (add_right_eq (Nat.succ (v - Nat.succ x)) ((reverse_sum k).trans ((reverse_sum h).symm.trans
          (congrArg Nat.succ (nat_add_comm (v - Nat.succ x) x)))))))
    (fun h => replace (reverse_above h) (fun y => reverse v y = x) (reverse_above h))

theorem succ_sub_succ (a : Nat) : (b : Nat) → Nat.succ a - Nat.succ b = a - b
  | .zero => rfl
  | .succ b => congrArg Nat.pred (succ_sub_succ a b)
theorem sumNat_head : (n : Nat) → (f : Nat → Nat) → sumNat (Nat.succ n) f = f 0 + sumNat n (fun i => f (Nat.succ i))
  | .zero, f => nat_zero_add (f 0)
  | .succ n, f => (nat_add_congr (sumNat_head n f) rfl).trans (nat_add_assoc _ _ _)
theorem sumNat_backwards : (v : Nat) → (f : Nat → Nat) → sumNat v (fun x => f (v - Nat.succ x)) = sumNat v f
  | .zero, _ => rfl
  | .succ v, f =>
    calc sumNat (Nat.succ v) (fun x => f (Nat.succ v - Nat.succ x))
        = f (Nat.succ v - Nat.succ 0) + sumNat v (fun x => f (Nat.succ v - Nat.succ (Nat.succ x))) := sumNat_head v _
      _ = f v + sumNat v (fun x => f (v - Nat.succ x)) := nat_add_congr rfl (sumNat_congr (fun x _ => congrArg f (succ_sub_succ v (Nat.succ x))))
      _ = f v + sumNat v f := nat_add_congr rfl (sumNat_backwards v f)
      _ = sumNat (Nat.succ v) f := nat_add_comm _ _

/-- `p` depends on the tokens only. -/
def Respects (p : (Nat → Nat) → Bool) : Prop := ∀ s s' : Nat → Nat, (∀ i, s i = s' i) → p s = p s'

theorem update_congr {t t' : Nat → Nat} (h : ∀ i, t i = t' i) (n x i : Nat) : update t n x i = update t' n x i :=
  (nat_eq_or_ne i n).elim (fun e => replace e (fun i => update t n x i = update t' n x i) ((update_same t n x).trans (update_same t' n x).symm))
    (fun ne => (update_other t x ne).trans ((h i).trans (update_other t' x ne).symm))
theorem count_respects (v : Nat) {p : (Nat → Nat) → Bool} (hp : Respects p) : (n : Nat) → (t t' : Nat → Nat) → (∀ i, t i = t' i) → count v n p t = count v n p t'
  | .zero, t, t', h => congrArg one (hp t t' h)
  | .succ n, t, t', h => sumNat_congr (fun x _ => count_respects v hp n (update t n x) (update t' n x) (update_congr h n x))

/-- Renumbering the tokens in reverse does not change a count. -/
theorem count_reverse (v : Nat) {p : (Nat → Nat) → Bool} (hp : Respects p) : (n : Nat) → (t : Nat → Nat) →
    count v n (fun s => p (fun i => reverse v (s i))) t = count v n p (fun i => reverse v (t i))
  | .zero, _ => rfl
  | .succ n, t =>
    let u := fun i => reverse v (t i)
    calc sumNat v (fun x => count v n (fun s => p (fun i => reverse v (s i))) (update t n x))
        = sumNat v (fun x => count v n p (update u n (v - Nat.succ x))) := sumNat_congr (fun x hx =>
          (count_reverse v hp n (update t n x)).trans (count_respects v hp n _ _ (fun i =>
            (nat_eq_or_ne i n).elim
              (fun e => replace e (fun i => reverse v (update t n x i) = update u n (v - Nat.succ x) i)
                ((congrArg (reverse v) (update_same t n x)).trans ((reverse_below hx).trans (update_same u n (v - Nat.succ x)).symm)))
              (fun ne => (congrArg (reverse v) (update_other t x ne)).trans (update_other u (v - Nat.succ x) ne).symm))))
      _ = sumNat v (fun y => count v n p (update u n y)) := sumNat_backwards v (fun y => count v n p (update u n y))

/-- The model with tokens and outputs renumbered. -/
def Model.reversed (M : Model F) (v : Nat) : Model F where
  dModel := M.dModel
  dHead := M.dHead
  E x := M.E (reverse v x)
  P := M.P
  WQ := M.WQ
  WK := M.WK
  WV := M.WV
  WO := M.WO
  U l o := M.U l (reverse v o)
  bQ := M.bQ
  bK := M.bK
  bV := M.bV
  bO := M.bO
  bU o := M.bU (reverse v o)
  scale := M.scale

/-- The renumbered model computes the same, on renumbered sequences for renumbered outputs. -/
theorem Model.reversed_logit (M : Model F) (v n : Nat) (t : Nat → Nat) (o : Nat) :
    (M.reversed v).logit n t o = M.logit n (fun i => reverse v (t i)) (reverse v o) := rfl

theorem Model.reversed_correct (M : Model F) (v O n : Nat) (hO : v ≤ O) (r : F) (t : Nat → Nat) (m : Nat) :
    (M.reversed v).Correct O n r t m ↔ M.Correct O n r (fun i => reverse v (t i)) (reverse v m) :=
  have below : ∀ o, o < O → reverse v o < O := fun o ho => (nat_lt_or_le o v).elim
    (fun h => nat_lt_of_lt_of_le (reverse_lt h) hO) (fun h => replace (reverse_above h) (fun y => y < O) ho)
  ⟨fun h o ho hne => replace (reverse_reverse v o).symm (fun y => (M.logit n (fun i => reverse v (t i)) y - M.logit n (fun i => reverse v (t i)) (reverse v m)) + r < 0)
      (h (reverse v o) (below o ho) (fun e => hne ((reverse_reverse v o).symm.trans (congrArg (reverse v) e)))),
   fun h o ho hne => h (reverse v o) (below o ho) (fun e => hne ((reverse_reverse v o).symm.trans ((congrArg (reverse v) e).trans (reverse_reverse v m))))⟩

/-- **Minimum tasks.** Let `correct` mark the sequences on which the model is right with answers `lab`, and `renumbered` those on which the renumbered model is right with answers `lab'`, where `lab` is the renumbered `lab'` of the renumbered sequence (so the smallest token if `lab'` is the largest).
Then both counts agree: a bound for the renumbered model is a bound for the model. -/
theorem Soundness.minimum (M : Model F) (v O n N : Nat) (hO : v ≤ O) (r : F) (t₀ : Nat → Nat) (lab lab' : (Nat → Nat) → Nat) (correct renumbered : (Nat → Nat) → Bool)
    (hlab : ∀ t, lab (fun i => reverse v (t i)) = reverse v (lab' t)) (hp : Respects correct)
    (h : ∀ t, correct t = true ↔ M.Correct O n r t (lab t)) (h' : ∀ t, renumbered t = true ↔ (M.reversed v).Correct O n r t (lab' t)) :
    count v N renumbered t₀ = count v N correct (fun i => reverse v (t₀ i)) :=
  have same : ∀ t, renumbered t = true ↔ correct (fun i => reverse v (t i)) = true := fun t =>
    have k := M.reversed_correct v O n hO r t (lab' t)
    ⟨fun c => (h _).mpr (replace (hlab t) (fun m => M.Correct O n r (fun i => reverse v (t i)) m) (k.mp ((h' t).mp c))),
     fun c => (h' t).mpr (k.mpr (Eq.subst (motive := fun m => M.Correct O n r (fun i => reverse v (t i)) m) (hlab t) ((h _).mp c)))⟩
  nat_le_antisymm
    (nat_le_trans (count_le (q := fun s => correct (fun i => reverse v (s i))) (fun s _ c => (same s).mp c))
      (replace (count_reverse v hp N t₀) (fun x => x ≤ count v N correct (fun i => reverse v (t₀ i))) (nat_le_refl _)))
    (replace (count_reverse v hp N t₀).symm (fun x => x ≤ count v N renumbered t₀) (count_le (fun s _ c => (same s).mpr c)))

/-- The smallest token, as the renumbered largest token of the renumbered sequence: none is smaller (`smallest_le`), and it is one of the tokens (`smallest_attained`). -/
def smallest (v n : Nat) (t : Nat → Nat) : Nat := reverse v (label n (fun i => reverse v (t i)))
theorem reverse_le {v x y : Nat} (hx : x < v) (hy : y < v) (h : reverse v x ≤ reverse v y) : y ≤ x :=
  have k : v - Nat.succ x ≤ v - Nat.succ y := Eq.subst (motive := fun z => z ≤ v - Nat.succ y) (reverse_below hx) (Eq.subst (motive := fun z => reverse v x ≤ z) (reverse_below hy) h)
  have e : v ≤ (v - Nat.succ y) + Nat.succ x := Eq.subst (motive := fun z => z ≤ (v - Nat.succ y) + Nat.succ x) (reverse_sum hx) (nat_add_le_add_right k (Nat.succ x))
  have f : Nat.succ y + (v - Nat.succ y) ≤ Nat.succ x + (v - Nat.succ y) :=
    replace ((nat_add_comm _ _).trans (reverse_sum hy)) (fun z => z ≤ Nat.succ x + (v - Nat.succ y)) (replace (nat_add_comm (Nat.succ x) (v - Nat.succ y)) (fun z => v ≤ z) e)
  le_of_succ_le_succ (nat_le_of_add_le_add_right (v - Nat.succ y) f)
theorem smallest_le {v n : Nat} {t : Nat → Nat} (ht : ∀ i, i < Nat.succ n → t i < v) (i : Nat) (hi : i < Nat.succ n) : smallest v n t ≤ t i :=
  have big : reverse v (t i) ≤ label n (fun i => reverse v (t i)) := le_label (t := fun i => reverse v (t i)) i hi
  have top : label n (fun i => reverse v (t i)) < v := match v, ht 0 (succ_le_succ (nat_zero_le n)), ht with
    | .zero, h, _ => (not_lt_zero h).elim
    | .succ v, _, ht => succ_le_succ (maxBelow_le (fun i hi => le_of_lt_succ (reverse_lt (ht i hi))))
  reverse_le (ht i hi) (reverse_lt top) (replace (reverse_reverse v _) (fun z => reverse v (t i) ≤ z) big)
theorem label_attained : (n : Nat) → (t : Nat → Nat) → Exists fun i => i < Nat.succ n ∧ label n t = t i
  | .zero, t => ⟨0, lt_succ_self 0, rfl⟩
  | .succ n, t => match bool_cases (Nat.ble (label n t) (t (Nat.succ n))) with
    | .inl e => ⟨Nat.succ n, lt_succ_self _,
        show (match Nat.ble (label n t) (t (Nat.succ n)) with | true => t (Nat.succ n) | false => label n t) = t (Nat.succ n) from
        replace e (fun b => (match b with | true => t (Nat.succ n) | false => label n t) = t (Nat.succ n)) rfl⟩
    | .inr e => match label_attained n t with
      | ⟨i, hi, k⟩ => ⟨i, lt_succ_of_lt hi,
          show (match Nat.ble (label n t) (t (Nat.succ n)) with | true => t (Nat.succ n) | false => label n t) = t i from
          replace e (fun b => (match b with | true => t (Nat.succ n) | false => label n t) = t i) k⟩
theorem smallest_attained (v n : Nat) (t : Nat → Nat) : Exists fun i => i < Nat.succ n ∧ smallest v n t = t i :=
  match label_attained n (fun i => reverse v (t i)) with
  | ⟨i, hi, k⟩ => ⟨i, hi, (congrArg (reverse v) k).trans (reverse_reverse v (t i))⟩
end
end CompactProofs
