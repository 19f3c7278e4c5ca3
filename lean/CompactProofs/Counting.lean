import CompactProofs.Naturals
/-!
# Counting sequences

`count v n p t` is the number of ways of filling the first `n` places of the sequence `t` with tokens below `v` such that `p` holds. With
`n` the whole length it is the number of
sequences with property `p`; with the query token already in place at position `n` it is the number of completions.
-/
namespace CompactProofs
noncomputable section

/-- The sequence `t` with `x` at place `n`. -/
def update (t : Nat → Nat) (n x : Nat) (i : Nat) : Nat := match Nat.beq i n with
  | true => x
  | false => t i
theorem update_same (t : Nat → Nat) (n x : Nat) : update t n x n = x :=
  replace (beq_refl n) (fun b => (match b with | true => x | false => t n) = x) rfl
theorem update_other (t : Nat → Nat) {n i : Nat} (x : Nat) (h : i ≠ n) : update t n x i = t i :=
  replace (beq_false h) (fun b => (match b with | true => x | false => t i) = t i) rfl

/-- Sums of natural numbers over `i < n`. -/
def sumNat : Nat → (Nat → Nat) → Nat
  | .zero, _ => 0
  | .succ n, f => sumNat n f + f n
/-- `v` to the power `n`. -/
def pow (v : Nat) : Nat → Nat
  | .zero => 1
  | .succ n => v * pow v n
/-- The sum of `f` over all fillings of the first `n` places. -/
def sumOver (v : Nat) : Nat → ((Nat → Nat) → Nat) → (Nat → Nat) → Nat
  | .zero, f, t => f t
  | .succ n, f, t => sumNat v (fun x => sumOver v n f (update t n x))
def one : Bool → Nat
  | true => 1
  | false => 0
def count (v n : Nat) (p : (Nat → Nat) → Bool) (t : Nat → Nat) : Nat := sumOver v n (fun s => one (p s)) t

/-- `s` is a filling of the first `n` places of `t`. -/
def Fills (v n : Nat) (t s : Nat → Nat) : Prop := (∀ i, i < n → s i < v) ∧ ∀ i, n ≤ i → s i = t i
theorem Fills.query {v n : Nat} {t s : Nat → Nat} (h : Fills v n t s) : s n = t n := h.right n (nat_le_refl n)
theorem Fills.place {v n x : Nat} {t s : Nat → Nat} (h : Fills v n (update t n x) s) : s n = x := h.query.trans (update_same t n x)
theorem Fills.step {v n x : Nat} {t s : Nat → Nat} (hx : x < v) (h : Fills v n (update t n x) s) : Fills v (Nat.succ n) t s :=
  ⟨fun i hi => (lt_or_eq_of_lt_succ hi).elim (h.left i) (fun e => replace e (fun i => s i < v) (replace h.place (fun y => y < v) hx)),
   fun i hi => (h.right i (nat_le_of_lt hi)).trans (update_other t x (fun e => nat_ne_of_lt hi e.symm))⟩

/-! ## Sums -/
theorem sumNat_le : {n : Nat} → {f g : Nat → Nat} → (∀ i, i < n → f i ≤ g i) → sumNat n f ≤ sumNat n g
  | .zero, _, _, _ => nat_le_refl 0
  | .succ n, _, _, h => nat_add_le_add (sumNat_le (n := n) (fun i hi => h i (lt_succ_of_lt hi))) (h n (lt_succ_self n))
theorem sumNat_congr : {n : Nat} → {f g : Nat → Nat} → (∀ i, i < n → f i = g i) → sumNat n f = sumNat n g
  | .zero, _, _, _ => rfl
  | .succ n, _, _, h => nat_add_congr (sumNat_congr (n := n) (fun i hi => h i (lt_succ_of_lt hi))) (h n (lt_succ_self n))
theorem sumNat_add : (n : Nat) → (f g : Nat → Nat) → sumNat n (fun i => f i + g i) = sumNat n f + sumNat n g
  | .zero, _, _ => rfl
  | .succ n, f, g => (nat_add_congr (sumNat_add n f g) rfl).trans (nat_add_add_add_comm _ _ _ _)
theorem sumNat_const : (n c : Nat) → sumNat n (fun _ => c) = n * c
  | .zero, c => (nat_zero_mul c).symm
  | .succ n, c => (nat_add_congr (sumNat_const n c) rfl).trans (nat_succ_mul n c).symm
theorem sumNat_zero (n : Nat) : sumNat n (fun _ => 0) = 0 := sumNat_const n 0
theorem sumNat_swap : (n m : Nat) → (f : Nat → Nat → Nat) → sumNat n (fun i => sumNat m (fun j => f i j)) = sumNat m (fun j => sumNat n (fun i => f i j))
  | .zero, m, _ => (sumNat_zero m).symm
  | .succ n, m, f => (nat_add_congr (sumNat_swap n m f) rfl).trans (sumNat_add m _ _).symm
/-- A sum over `x < v` of a function that vanishes from `b` on is the sum over `x < b`. -/
theorem sumNat_cut (b : Nat) : (v : Nat) → (f : Nat → Nat) → b ≤ v → (∀ x, b ≤ x → x < v → f x = 0) → sumNat v f = sumNat b f
  | .zero, _, h, _ => match b, h with
    | .zero, _ => rfl
    | .succ _, h => (not_succ_le_zero h).elim
  | .succ v, f, h, z => (lt_or_eq_of_lt_succ (succ_le_succ h)).elim
      (fun k => have hb : b ≤ v := le_of_lt_succ k
        (nat_add_congr (sumNat_cut b v f hb (fun x h1 h2 => z x h1 (lt_succ_of_lt h2))) (z v hb (lt_succ_self v))))
      (fun e => replace e (fun b => sumNat (Nat.succ v) f = sumNat b f) rfl)
/-- At most one term of a sum is 1 and the others are 0: the sum is at most 1. -/
theorem sumNat_delta_le (f : Nat → Nat) (m : Nat) (h1 : f m ≤ 1) (h0 : ∀ x, x ≠ m → f x = 0) : (n : Nat) → sumNat n f ≤ 1
  | .zero => nat_zero_le 1
  | .succ n => (nat_eq_or_ne n m).elim
      (fun e => have z : sumNat n f = 0 :=
          (sumNat_congr (g := fun _ => 0) (fun i hi => h0 i (fun k => nat_ne_of_lt hi (k.trans e.symm)))).trans (sumNat_zero n)
        show sumNat n f + f n ≤ 1 from replace z (fun z => z + f n ≤ 1)
          (replace (nat_zero_add (f n)) (fun z => z ≤ 1) (replace e (fun n => f n ≤ 1) h1)))
      (fun ne => replace (h0 n ne) (fun z => sumNat n f + z ≤ 1) (sumNat_delta_le f m h1 h0 n))

theorem sumOver_le {v : Nat} : {n : Nat} → {f g : (Nat → Nat) → Nat} → {t : Nat → Nat} → (∀ s, Fills v n t s → f s ≤ g s) →
    sumOver v n f t ≤ sumOver v n g t
  | .zero, _, _, t, h => h t ⟨fun _ hi => (not_lt_zero hi).elim, fun _ _ => rfl⟩
  | .succ n, _, _, t, h => sumNat_le (fun x hx => sumOver_le (n := n) (fun s hs => h s (hs.step hx)))
theorem sumOver_congr {v : Nat} : {n : Nat} → {f g : (Nat → Nat) → Nat} → {t : Nat → Nat} → (∀ s, Fills v n t s → f s = g s) →
    sumOver v n f t = sumOver v n g t
  | .zero, _, _, t, h => h t ⟨fun _ hi => (not_lt_zero hi).elim, fun _ _ => rfl⟩
  | .succ n, _, _, t, h => sumNat_congr (fun x hx => sumOver_congr (n := n) (fun s hs => h s (hs.step hx)))
theorem sumOver_add (v : Nat) : (n : Nat) → (f g : (Nat → Nat) → Nat) → (t : Nat → Nat) →
    sumOver v n (fun s => f s + g s) t = sumOver v n f t + sumOver v n g t
  | .zero, _, _, _ => rfl
  | .succ n, f, g, t => (sumNat_congr (fun x _ => sumOver_add v n f g (update t n x))).trans (sumNat_add v _ _)
theorem sumOver_const (v c : Nat) : (n : Nat) → (t : Nat → Nat) → sumOver v n (fun _ => c) t = pow v n * c
  | .zero, _ => (nat_one_mul c).symm
  | .succ n, t => (sumNat_congr (fun x _ => sumOver_const v c n (update t n x))).trans
      ((sumNat_const v _).trans (nat_mul_assoc v (pow v n) c).symm)
theorem sumOver_sumNat (v : Nat) (m : Nat) : (n : Nat) → (f : Nat → (Nat → Nat) → Nat) → (t : Nat → Nat) →
    sumOver v n (fun s => sumNat m (fun j => f j s)) t = sumNat m (fun j => sumOver v n (f j) t)
  | .zero, _, _ => rfl
  | .succ n, f, t => (sumNat_congr (fun x _ => sumOver_sumNat v m n f (update t n x))).trans (sumNat_swap v m _)

/-! ## Counts -/
theorem one_le (b : Bool) : one b ≤ 1 := match b with
  | true => nat_le_refl 1
  | false => nat_zero_le 1
theorem one_mono {a b : Bool} (h : a = true → b = true) : one a ≤ one b := match a, h with
  | true, h => (h rfl).symm.rec (nat_le_refl 1)
  | false, _ => nat_zero_le _
theorem count_le {v n : Nat} {p q : (Nat → Nat) → Bool} {t : Nat → Nat} (h : ∀ s, Fills v n t s → p s = true → q s = true) :
    count v n p t ≤ count v n q t := sumOver_le (fun s hs => one_mono (h s hs))
theorem count_congr {v n : Nat} {p q : (Nat → Nat) → Bool} {t : Nat → Nat} (h : ∀ s, Fills v n t s → p s = q s) :
    count v n p t = count v n q t := sumOver_congr (fun s hs => congrArg one (h s hs))
/-- Everything is counted once: the number of fillings is `v^n`. -/
theorem count_all (v n : Nat) (t : Nat → Nat) : count v n (fun _ => true) t = pow v n :=
  (sumOver_const v 1 n t).trans (nat_zero_add (pow v n))
theorem one_split (a b : Bool) : one (both a b) + one (both a (not b)) = one a :=
  match a, b with
  | true, true => rfl
  | true, false => rfl
  | false, true => rfl
  | false, false => rfl
theorem one_disjoint {a b c : Bool} (ha : a = true → c = true) (hb : b = true → c = true) (h : a = true → b = false) : one a + one b ≤ one c :=
  match a, b, c, ha, hb, h with
  | true, true, _, _, _, h => absurd (h rfl) true_ne_false
  | true, false, true, _, _, _ => nat_le_refl 1
  | true, false, false, ha, _, _ => absurd (ha rfl).symm true_ne_false
  | false, true, true, _, _, _ => nat_le_refl 1
  | false, true, false, _, hb, _ => absurd (hb rfl).symm true_ne_false
  | false, false, _, _, _, _ => nat_zero_le _
theorem one_either {a b c : Bool} (h : c = true → a = true ∨ b = true) : one c ≤ one a + one b :=
  match c, h with
  | false, _ => nat_zero_le _
  | true, h => (h rfl).elim
      (fun l => replace l (fun x => 1 ≤ one x + one b) (nat_le_add_right 1 _))
      (fun l => replace l (fun x => 1 ≤ one a + one x) (succ_le_succ (nat_zero_le _)))
/-- A property and its negation. -/
theorem count_split (v n : Nat) (p q : (Nat → Nat) → Bool) (t : Nat → Nat) :
    count v n (fun s => both (p s) (q s)) t + count v n (fun s => both (p s) (not (q s))) t = count v n p t :=
  (sumOver_add v n _ _ t).symm.trans (sumOver_congr (fun s _ => one_split (p s) (q s)))
theorem count_not (v n : Nat) (p : (Nat → Nat) → Bool) (t : Nat → Nat) : count v n p t + count v n (fun s => not (p s)) t = pow v n :=
  (count_split v n (fun _ => true) p t).trans (count_all v n t)
/-- Two disjoint properties. -/
theorem count_disjoint {v n : Nat} {p q r : (Nat → Nat) → Bool} {t : Nat → Nat}
    (hp : ∀ s, p s = true → r s = true) (hq : ∀ s, q s = true → r s = true) (hd : ∀ s, p s = true → q s = false) :
    count v n p t + count v n q t ≤ count v n r t :=
  replace (sumOver_add v n _ _ t).symm (fun x => x ≤ count v n r t) (sumOver_le (fun s _ => one_disjoint (hp s) (hq s) (hd s)))
/-- Union bound. -/
theorem count_either_le {v n : Nat} {p q r : (Nat → Nat) → Bool} {t : Nat → Nat}
    (h : ∀ s, Fills v n t s → r s = true → p s = true ∨ q s = true) : count v n r t ≤ count v n p t + count v n q t :=
  Eq.subst (motive := fun x => count v n r t ≤ x) (sumOver_add v n _ _ t) (sumOver_le (fun s hs => one_either (h s hs)))

/-! ## Restricting the tokens -/
/-- The first `n` tokens are all below `b`. -/
def allBelow (b : Nat) : Nat → (Nat → Nat) → Bool
  | .zero, _ => true
  | .succ n, t => both (blt (t n) b) (allBelow b n t)
theorem allBelow_iff (b : Nat) : (n : Nat) → (t : Nat → Nat) → (allBelow b n t = true ↔ ∀ i, i < n → t i < b)
  | .zero, _ => ⟨fun _ _ hi => (not_lt_zero hi).elim, fun _ => rfl⟩
  | .succ n, t =>
    ⟨fun h i hi => (lt_or_eq_of_lt_succ hi).elim ((allBelow_iff b n t).mp (both_right h) i)
        (fun e => replace e (fun i => t i < b) (blt_lt (both_left h))),
     fun h => both_intro (lt_blt (h n (lt_succ_self n))) ((allBelow_iff b n t).mpr (fun i hi => h i (lt_succ_of_lt hi)))⟩
/-- Counting the fillings below `v` whose tokens are all below `b ≤ v` is counting the fillings below `b`. -/
theorem count_allBelow {v b : Nat} (hb : b ≤ v) (p : (Nat → Nat) → Bool) : (n : Nat) → (t : Nat → Nat) →
    count v n (fun s => both (allBelow b n s) (p s)) t = count b n p t
  | .zero, _ => rfl
  | .succ n, t =>
    have cut : ∀ x, b ≤ x → x < v → count v n (fun s => both (allBelow b (Nat.succ n) s) (p s)) (update t n x) = 0 := fun x hx _ =>
      (sumOver_congr (g := fun _ => 0) (fun s hs =>
        have e : allBelow b (Nat.succ n) s = false := eq_false_of_ne_true (fun k =>
          nat_lt_irrefl b (nat_lt_of_le_of_lt hx (replace hs.place.symm (fun y => y < b) ((allBelow_iff b (Nat.succ n) s).mp k n (lt_succ_self n)))))
        replace e (fun y => one (both y (p s)) = 0) rfl)).trans (sumOver_const v 0 n (update t n x))
    have keep : ∀ x, x < b → count v n (fun s => both (allBelow b (Nat.succ n) s) (p s)) (update t n x) = count b n p (update t n x) := fun x hx =>
      (count_congr (fun s hs =>
        have e : blt (s n) b = true := lt_blt (replace hs.place (fun y => y < b) hx)
        show both (both (blt (s n) b) (allBelow b n s)) (p s) = both (allBelow b n s) (p s) from
          replace e (fun y => both (both y (allBelow b n s)) (p s) = both (allBelow b n s) (p s)) rfl)).trans
        (count_allBelow hb p n (update t n x))
    (sumNat_cut b v _ hb cut).trans (sumNat_congr keep)
end
end CompactProofs
