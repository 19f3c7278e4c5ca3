import CompactProofs.Accuracy
/-!
# Classes of sequences and their sizes

The class `(q, m, c, good)`: the query token is `q`, exactly `c` of the other `n` places hold a token different from `m`, and those tokens
are good. The cubic rule uses good sets found per
class, the gap rule uses `good x = (x < b)` with `b = m - g + 1`, that is `x ≤ m - g`.
-/
namespace CompactProofs
noncomputable section

/-- Among the first `n` places exactly `c` hold a good token, and all others hold `m`. -/
def mixed (good : Nat → Bool) (m : Nat) : Nat → Nat → (Nat → Nat) → Bool
  | .zero, .zero, _ => true
  | .zero, .succ _, _ => false
  | .succ n, .zero, t => both (Nat.beq (t n) m) (mixed good m n 0 t)
  | .succ n, .succ c, t => match Nat.beq (t n) m with
    | true => mixed good m n (Nat.succ c) t
    | false => both (good (t n)) (mixed good m n c t)

/-- Binomial coefficients, by Pascal's rule. -/
def binom : Nat → Nat → Nat
  | _, .zero => 1
  | .zero, .succ _ => 0
  | .succ n, .succ c => binom n (Nat.succ c) + binom n c

theorem binom_zero : (n : Nat) → binom n 0 = 1
  | .zero => rfl
  | .succ _ => rfl

/-- The number of tokens below `v` that are good. -/
def sizeOf (v : Nat) (good : Nat → Bool) : Nat := sumNat v (fun x => one (good x))

theorem sumNat_mul_right (n c : Nat) (f : Nat → Nat) : sumNat n (fun i => f i * c) = sumNat n f * c := match n with
  | .zero => (nat_zero_mul c).symm
  | .succ n => (nat_add_congr (sumNat_mul_right n c f) rfl).trans (nat_add_mul _ _ c).symm
theorem sumNat_hit (m : Nat) : (v : Nat) → m < v → sumNat v (fun x => one (Nat.beq x m)) = 1
  | .zero, h => (not_lt_zero h).elim
  | .succ v, h => (lt_or_eq_of_lt_succ h).elim
      (fun k => nat_add_congr (sumNat_hit m v k) (congrArg one (beq_false (fun e => nat_ne_of_lt k e.symm))))
      (fun e => (nat_add_congr
        ((sumNat_congr (g := fun _ => 0) (fun i hi => congrArg one (beq_false (fun k => nat_ne_of_lt hi (k.trans e))))).trans (sumNat_zero v))
        (congrArg one (beq_of_eq e.symm))))

/-- **Size of a class:** `binom n c * s^c`, where `s` is the number of good tokens. -/
theorem count_mixed (v : Nat) (good : Nat → Bool) (m : Nat) (hm : m < v) (hg : good m = false) : (n c : Nat) → (t : Nat → Nat) →
    count v n (mixed good m n c) t = binom n c * pow (sizeOf v good) c
  | .zero, .zero, _ => rfl
  | .zero, .succ c, t => (nat_zero_mul _).symm
  | .succ n, .zero, t =>
    have each : ∀ x, x < v → count v n (mixed good m (Nat.succ n) 0) (update t n x) = one (Nat.beq x m) := fun x _ =>
      match bool_cases (Nat.beq x m) with
      | .inl e => replace e (fun b => count v n (mixed good m (Nat.succ n) 0) (update t n x) = one b)
          ((count_congr (fun s hs => replace (hs.place) (fun y => both (Nat.beq y m) (mixed good m n 0 s) = mixed good m n 0 s)
            (replace e (fun b => both b (mixed good m n 0 s) = mixed good m n 0 s) rfl))).trans ((count_mixed v good m hm hg n 0 (update t n x)).trans
              (nat_mul_congr (binom_zero n) (rfl (a := 1)))))
      | .inr e => replace e (fun b => count v n (mixed good m (Nat.succ n) 0) (update t n x) = one b)
          ((sumOver_congr (g := fun _ => 0) (fun s hs => replace (hs.place) (fun y => one (both (Nat.beq y m) (mixed good m n 0 s)) = 0)
            (replace e (fun b => one (both b (mixed good m n 0 s)) = 0) rfl))).trans (sumOver_const v 0 n _))
    (sumNat_congr each).trans (sumNat_hit m v hm)
  | .succ n, .succ c, t =>
    let s := sizeOf v good
    let P := binom n (Nat.succ c) * pow s (Nat.succ c)
    let Q := binom n c * pow s c
    have each : ∀ x, x < v → count v n (mixed good m (Nat.succ n) (Nat.succ c)) (update t n x) = one (Nat.beq x m) * P + one (good x) * Q := fun x _ =>
      match bool_cases (Nat.beq x m) with
      | .inl e =>
        have gx : good x = false := replace (beq_eq e) (fun y => good y = false) hg
        have cnt : count v n (mixed good m (Nat.succ n) (Nat.succ c)) (update t n x) = P :=
          (count_congr (fun f hf =>
            show (match Nat.beq (f n) m with | true => mixed good m n (Nat.succ c) f | false => both (good (f n)) (mixed good m n c f))
                = mixed good m n (Nat.succ c) f from
            replace (hf.place) (fun y => (match Nat.beq y m with | true => mixed good m n (Nat.succ c) f | false => both (good y) (mixed good m n c f)) = mixed good m n (Nat.succ c) f)
              (replace e (fun b => (match b with | true => mixed good m n (Nat.succ c) f | false => both (good x) (mixed good m n c f)) = mixed good m n (Nat.succ c) f) rfl))).trans
            (count_mixed v good m hm hg n (Nat.succ c) (update t n x))
        cnt.trans (replace e (fun b => P = one b * P + one (good x) * Q)
          (replace gx (fun b => P = one true * P + one b * Q) ((nat_add_congr (nat_one_mul P) (nat_zero_mul Q)).symm)))
      | .inr e =>
        have body : ∀ f, Fills v n (update t n x) f → mixed good m (Nat.succ n) (Nat.succ c) f = both (good x) (mixed good m n c f) := fun f hf =>
            show (match Nat.beq (f n) m with | true => mixed good m n (Nat.succ c) f | false => both (good (f n)) (mixed good m n c f))
                = both (good x) (mixed good m n c f) from
            replace (hf.place) (fun y => (match Nat.beq y m with | true => mixed good m n (Nat.succ c) f | false => both (good y) (mixed good m n c f)) = both (good x) (mixed good m n c f))
              (replace e (fun b => (match b with | true => mixed good m n (Nat.succ c) f | false => both (good x) (mixed good m n c f)) = both (good x) (mixed good m n c f)) rfl)
        have cnt : count v n (mixed good m (Nat.succ n) (Nat.succ c)) (update t n x) = one (good x) * Q :=
          (count_congr body).trans (match bool_cases (good x) with
            | .inl g => replace g (fun b => count v n (fun f => both b (mixed good m n c f)) (update t n x) = one b * Q)
                ((count_mixed v good m hm hg n c (update t n x)).trans (nat_one_mul Q).symm)
            | .inr g => replace g (fun b => count v n (fun f => both b (mixed good m n c f)) (update t n x) = one b * Q)
                ((sumOver_const v 0 n _).trans (nat_zero_mul Q).symm))
        cnt.trans (replace e (fun b => one (good x) * Q = one b * P + one (good x) * Q)
          ((nat_add_congr (nat_zero_mul P) rfl).trans (nat_zero_add _)).symm)
    calc count v (Nat.succ n) (mixed good m (Nat.succ n) (Nat.succ c)) t
        = sumNat v (fun x => one (Nat.beq x m) * P + one (good x) * Q) := sumNat_congr each
      _ = sumNat v (fun x => one (Nat.beq x m)) * P + s * Q :=
          (sumNat_add v _ _).trans (nat_add_congr (sumNat_mul_right v P _) (sumNat_mul_right v Q _))
      _ = 1 * P + s * Q := nat_add_congr (nat_mul_congr (sumNat_hit m v hm) rfl) rfl
      _ = P + s * (binom n c * pow s c) := nat_add_congr (nat_one_mul P) rfl
      _ = P + binom n c * (s * pow s c) := nat_add_congr rfl
          ((nat_mul_assoc s (binom n c) (pow s c)).symm.trans ((nat_mul_congr (nat_mul_comm s (binom n c)) rfl).trans (nat_mul_assoc (binom n c) s (pow s c))))
      _ = binom (Nat.succ n) (Nat.succ c) * pow s (Nat.succ c) := (nat_add_mul (binom n (Nat.succ c)) (binom n c) (pow s (Nat.succ c))).symm

/-- The number of the first `n` places chosen by `J`. -/
def chosen (J : Nat → Bool) (n : Nat) : Nat := sumNat n (fun i => one (J i))
/-- The places that do not hold `m`. -/
def differs (m : Nat) (t : Nat → Nat) (i : Nat) : Bool := not (Nat.beq (t i) m)

/-- What membership in a class means. -/
theorem mixed_spec (good : Nat → Bool) (m : Nat) : (n c : Nat) → (t : Nat → Nat) → mixed good m n c t = true →
    (∀ i, i < n → t i = m ∨ (t i ≠ m ∧ good (t i) = true)) ∧ chosen (differs m t) n = c
  | .zero, .zero, _, _ => ⟨fun _ hi => (not_lt_zero hi).elim, rfl⟩
  | .zero, .succ _, _, h => absurd h.symm true_ne_false
  | .succ n, .zero, t, h =>
    have ih := mixed_spec good m n 0 t (both_right h)
    have e : t n = m := beq_eq (both_left h)
    ⟨fun i hi => (lt_or_eq_of_lt_succ hi).elim (ih.left i) (fun k => .inl (replace k (fun i => t i = m) e)),
     nat_add_congr ih.right (replace (both_left h) (fun b => one (not b) = 0) rfl)⟩
  | .succ n, .succ c, t, h =>
    match bool_cases (Nat.beq (t n) m) with
    | .inl k =>
      have ih := mixed_spec good m n (Nat.succ c) t
        (replace (replace k (fun b => mixed good m n (Nat.succ c) t = (match b with | true => mixed good m n (Nat.succ c) t | false => both (good (t n)) (mixed good m n c t))) rfl) (fun b => b = true) h)
      ⟨fun i hi => (lt_or_eq_of_lt_succ hi).elim (ih.left i) (fun e => .inl (replace e (fun i => t i = m) (beq_eq k))),
       nat_add_congr ih.right (replace k (fun b => one (not b) = 0) rfl)⟩
    | .inr k =>
      have h' : both (good (t n)) (mixed good m n c t) = true :=
        replace (replace k (fun b => both (good (t n)) (mixed good m n c t) = (match b with | true => mixed good m n (Nat.succ c) t | false => both (good (t n)) (mixed good m n c t))) rfl) (fun b => b = true) h
      have ih := mixed_spec good m n c t (both_right h')
      ⟨fun i hi => (lt_or_eq_of_lt_succ hi).elim (ih.left i)
          (fun e => .inr (replace e (fun i => t i ≠ m ∧ good (t i) = true) ⟨ne_of_beq_false k, both_left h'⟩)),
       nat_add_congr ih.right (replace k (fun b => one (not b) = 1) rfl)⟩

/-- Good tokens "below `b`": there are `b` of them. -/
theorem sizeOf_below {v b : Nat} (h : b ≤ v) : sizeOf v (fun x => blt x b) = b :=
  calc sizeOf v (fun x => blt x b) = sumNat b (fun x => one (blt x b)) :=
        sumNat_cut b v _ h (fun x hx _ => congrArg one (eq_false_of_ne_true (fun k => nat_lt_irrefl b (nat_lt_of_le_of_lt hx (blt_lt k)))))
    _ = sumNat b (fun _ => 1) := sumNat_congr (fun x hx => congrArg one (lt_blt hx))
    _ = b * 1 := sumNat_const b 1
    _ = b := nat_zero_add b

/-! ## Regions of the whole space -/

/-- A class of sequences: see the head of this file. -/
structure Class where
  q : Nat
  m : Nat
  c : Nat
  good : Nat → Bool
def Class.has (k : Class) (n : Nat) (t : Nat → Nat) : Bool := both (Nat.beq (t n) k.q) (mixed k.good k.m n k.c t)
/-- The number of sequences in a class. -/
def Class.size (k : Class) (v n : Nat) : Nat := binom n k.c * pow (sizeOf v k.good) k.c
/-- Tokens below the vocabulary size; good tokens below `m`, the query at most `m`, and `m` occurs. -/
def Class.Valid (k : Class) (v n : Nat) : Prop :=
  k.q < v ∧ k.m < v ∧ (∀ x, k.good x = true → x < k.m) ∧ k.q ≤ k.m ∧ (k.q = k.m ∨ k.c < n)

theorem Class.good_max {k : Class} {v n : Nat} (h : k.Valid v n) : k.good k.m = false :=
  eq_false_of_ne_true (fun e => nat_lt_irrefl k.m (h.right.right.left k.m e))
theorem Class.count_eq {k : Class} {v n : Nat} (h : k.Valid v n) (t : Nat → Nat) : count v (Nat.succ n) (k.has n) t = k.size v n :=
  have each : ∀ x, x < v → count v n (k.has n) (update t n x) = one (Nat.beq x k.q) * k.size v n := fun x _ =>
    have body : ∀ s, Fills v n (update t n x) s → k.has n s = both (Nat.beq x k.q) (mixed k.good k.m n k.c s) := fun s hs =>
      replace hs.place (fun y => both (Nat.beq y k.q) (mixed k.good k.m n k.c s) = both (Nat.beq x k.q) (mixed k.good k.m n k.c s)) rfl
    (count_congr body).trans (match bool_cases (Nat.beq x k.q) with
      | .inl g => replace g (fun b => count v n (fun s => both b (mixed k.good k.m n k.c s)) (update t n x) = one b * k.size v n)
          ((count_mixed v k.good k.m h.right.left (Class.good_max h) n k.c (update t n x)).trans (nat_one_mul _).symm)
      | .inr g => replace g (fun b => count v n (fun s => both b (mixed k.good k.m n k.c s)) (update t n x) = one b * k.size v n)
          ((sumOver_const v 0 n _).trans (nat_zero_mul _).symm))
  calc count v (Nat.succ n) (k.has n) t = sumNat v (fun x => one (Nat.beq x k.q) * k.size v n) := sumNat_congr each
    _ = sumNat v (fun x => one (Nat.beq x k.q)) * k.size v n := sumNat_mul_right v _ _
    _ = 1 * k.size v n := nat_mul_congr (sumNat_hit k.q v h.left) rfl
    _ = k.size v n := nat_one_mul _

theorem sumNat_lt_exists (J : Nat → Bool) : (n : Nat) → chosen J n < n → Exists fun i => i < n ∧ J i = false
  | .zero, h => (not_lt_zero h).elim
  | .succ n, h => match bool_cases (J n) with
    | .inr e => ⟨n, lt_succ_self n, e⟩
    | .inl e =>
      have k : chosen J n < n := le_of_succ_le_succ
        (Eq.subst (motive := fun b => Nat.succ (chosen J n + one b) ≤ Nat.succ n) e h)
      match sumNat_lt_exists J n k with
      | ⟨i, hi, hJ⟩ => ⟨i, lt_succ_of_lt hi, hJ⟩

/-- In a valid class every sequence has label `m`. -/
theorem Class.label_eq {k : Class} {v n : Nat} (h : k.Valid v n) {t : Nat → Nat} (ht : k.has n t = true) : label n t = k.m :=
  have hq : t n = k.q := beq_eq (both_left ht)
  have spec := mixed_spec k.good k.m n k.c t (both_right ht)
  have le : ∀ i, i < Nat.succ n → t i ≤ k.m := fun i hi => (lt_or_eq_of_lt_succ hi).elim
    (fun hi => (spec.left i hi).elim (fun e => replace e (fun x => x ≤ k.m) (nat_le_refl _)) (fun g => nat_le_of_lt (h.right.right.left _ g.right)))
    (fun e => replace e (fun i => t i ≤ k.m) (replace hq (fun x => x ≤ k.m) h.right.right.right.left))
  h.right.right.right.right.elim
    (fun e => CompactProofs.label_eq le n (lt_succ_self n) (hq.trans e))
    (fun l => match sumNat_lt_exists (differs k.m t) n (replace spec.right (fun x => x < n) l) with
      | ⟨i, hi, hd⟩ => CompactProofs.label_eq le i (lt_succ_of_lt hi)
          (beq_eq (match bool_cases (Nat.beq (t i) k.m) with
            | .inl e => e
            | .inr e => absurd (Eq.subst (motive := fun b => not b = false) e hd) true_ne_false)))

/-- Classes with a different query, maximum or number of other tokens have no sequence in common. -/
theorem Class.disjoint {k l : Class} {v n : Nat} (hk : k.Valid v n) (hl : l.Valid v n) (h : k.q ≠ l.q ∨ k.m ≠ l.m ∨ k.c ≠ l.c)
    (t : Nat → Nat) (ht : k.has n t = true) : l.has n t = false :=
  eq_false_of_ne_true (fun hs =>
    have em : k.m = l.m := (Class.label_eq hk ht).symm.trans (Class.label_eq hl hs)
    h.elim (fun e => e ((beq_eq (both_left ht)).symm.trans (beq_eq (both_left hs))))
      (fun h => h.elim (fun e => e em)
        (fun e => e ((mixed_spec k.good k.m n k.c t (both_right ht)).right.symm.trans
          (Eq.subst (motive := fun m => chosen (differs m t) n = l.c) em.symm (mixed_spec l.good l.m n l.c t (both_right hs)).right)))))
end
end CompactProofs
