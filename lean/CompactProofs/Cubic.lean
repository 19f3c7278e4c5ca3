import CompactProofs.Classes
/-!
# The cubic rule: `pure_sequences`

Fix a query token `q`, a maximum `m`, and `c`. A *mixed* sequence holds `m` at all but `c` of its first `n` places, and good tokens at those
`c` places. The rule looks at *pure* sequences only
(the `c` places all hold one good token), and among these only at the two arrangements in which the other token stands on the `c` least and
on the `c` most favoured places.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- `x` if the place is chosen, 0 if not. -/
def pick : Bool → F → F
  | true, x => x
  | false, _ => 0
/-- The sum of `f` over those of the first `n` places that `J` chooses. -/
def sumOn (J : Nat → Bool) : Nat → (Nat → F) → F
  | .zero, _ => 0
  | .succ n, f => sumOn J n f + (pick (J n) (f n))

theorem sumOn_le (J : Nat → Bool) : {n : Nat} → {f g : Nat → F} → (∀ i, i < n → J i = true → f i ≤ g i) → sumOn J n f ≤ sumOn J n g
  | .zero, _, _, _ => le_refl 0
  | .succ n, f, g, h => add_le_add (sumOn_le J (n := n) (fun i hi => h i (lt_succ_of_lt hi)))
      (match bool_cases (J n) with
        | .inl e => replace e (fun b => (pick b (f n)) ≤ (pick b (g n))) (h n (lt_succ_self n) e)
        | .inr e => replace e (fun b => (pick b (f n)) ≤ (pick b (g n))) (le_refl 0))
theorem sumOn_congr (J : Nat → Bool) {n : Nat} {f g : Nat → F} (h : ∀ i, i < n → J i = true → f i = g i) : sumOn J n f = sumOn J n g :=
  le_antisymm (sumOn_le J (fun i hi k => le_of_eq (h i hi k))) (sumOn_le J (fun i hi k => le_of_eq (h i hi k).symm))
theorem sumOn_add (J : Nat → Bool) : (n : Nat) → (f g : Nat → F) → sumOn J n (fun i => f i + g i) = sumOn J n f + sumOn J n g
  | .zero, _, _ => (add_zero 0).symm
  | .succ n, f, g =>
    have last : (pick (J n) (f n + g n)) = (pick (J n) (f n)) + (pick (J n) (g n)) :=
      match J n with
      | true => rfl
      | false => (add_zero 0).symm
    (add_congr (sumOn_add J n f g) last).trans (add_add_add_comm _ _ _ _)
theorem sumOn_mul (J : Nat → Bool) (c : F) : (n : Nat) → (f : Nat → F) → sumOn J n (fun i => c * f i) = c * sumOn J n f
  | .zero, _ => (mul_zero c).symm
  | .succ n, f =>
    have last : (pick (J n) (c * f n)) = c * (pick (J n) (f n)) :=
      match J n with
      | true => rfl
      | false => (mul_zero c).symm
    (add_congr (sumOn_mul J c n f) last).trans (mul_add _ _ _).symm
theorem sumOn_mul_right (J : Nat → Bool) (c : F) (n : Nat) (f : Nat → F) : sumOn J n (fun i => f i * c) = sumOn J n f * c :=
  (sumOn_congr J (fun i _ _ => mul_comm (f i) c)).trans ((sumOn_mul J c n f).trans (mul_comm _ _))
theorem sumOn_nonneg (J : Nat → Bool) : {n : Nat} → {f : Nat → F} → (∀ i, i < n → 0 ≤ f i) → 0 ≤ sumOn J n f
  | .zero, _, _ => le_refl 0
  | .succ n, f, h => add_nonneg (sumOn_nonneg J (n := n) (fun i hi => h i (lt_succ_of_lt hi)))
      (match J n with
        | true => h n (lt_succ_self n)
        | false => le_refl 0)
/-- A sum is the part that `J` chooses plus the part that it does not choose. -/
theorem sumOn_split (J : Nat → Bool) : (n : Nat) → (f : Nat → F) → sum n f = sumOn J n f + sumOn (fun i => not (J i)) n f
  | .zero, _ => (add_zero 0).symm
  | .succ n, f =>
    have last : f n = (pick (J n) (f n)) + pick (not (J n)) (f n) :=
      match J n with
      | true => (add_zero _).symm
      | false => (zero_add _).symm
    (add_congr (sumOn_split J n f) last).trans (add_add_add_comm _ _ _ _)

theorem pos_chosen (J : Nat → Bool) : (n i : Nat) → i < n → J i = true → 0 < chosen J n
  | .zero, _, h, _ => (not_lt_zero h).elim
  | .succ n, i, h, e => (lt_or_eq_of_lt_succ h).elim
      (fun k => nat_lt_of_lt_of_le (pos_chosen J n i k e) (nat_le_add_right _ _))
      (fun k => have e' : J n = true := Eq.subst (motive := fun i => J i = true) k e
        replace e' (fun b => 0 < chosen J n + one b) (succ_le_succ (nat_zero_le _)))
theorem sumOn_pos_terms (J : Nat → Bool) : {n : Nat} → {f : Nat → F} → (∀ i, i < n → J i = true → 0 < f i) → 0 < chosen J n → 0 < sumOn J n f
  | .zero, _, _, h => (not_lt_zero h).elim
  | .succ n, f, h, k =>
    have h' : ∀ i, i < n → J i = true → 0 < f i := fun i hi => h i (lt_succ_of_lt hi)
    have zero : sumOn J n (fun _ => (0 : F)) = 0 := (sumOn_congr J (fun _ _ _ => (mul_zero 0).symm)).trans ((sumOn_mul J 0 n (fun _ => 0)).trans (zero_mul _))
    have rest : 0 ≤ sumOn J n f := calc 0 = sumOn J n (fun _ => (0 : F)) := zero.symm
      _ ≤ sumOn J n f := sumOn_le J (fun i hi e => le_of_lt (h' i hi e))
    match bool_cases (J n) with
    | .inl e => replace e (fun b => 0 < sumOn J n f + (pick b (f n))) (add_pos' rest (h n (lt_succ_self n) e))
    | .inr e => replace e (fun b => 0 < sumOn J n f + (pick b (f n)))
        (add_pos (sumOn_pos_terms J h' (Eq.subst (motive := fun b => 0 < chosen J n + one b) e k)) (le_refl 0))

/-! ## Lemma O: the extreme arrangements -/

theorem sumOn_cmp (J A : Nat → Bool) (b : Nat → F) (θ : F) : (n : Nat) →
    (∀ i, i < n → (A i = true → b i ≤ θ) ∧ (A i = false → θ ≤ b i)) →
    sumOn A n b + θ * cast (chosen J n) ≤ sumOn J n b + θ * cast (chosen A n)
  | .zero, _ => le_refl _
  | .succ n, h =>
    have ih := sumOn_cmp J A b θ n (fun i hi => h i (lt_succ_of_lt hi))
    have last : (pick (A n) (b n)) + θ * cast (one (J n)) ≤ (pick (J n) (b n)) + θ * cast (one (A n)) :=
      match bool_cases (A n), bool_cases (J n) with
      | .inl ea, .inl ej => replace ea (fun x => (pick x (b n)) + θ * cast (one (J n)) ≤ (pick (J n) (b n)) + θ * cast (one x))
          (replace ej (fun y => b n + θ * cast (one y) ≤ (pick y (b n)) + θ * cast 1) (le_refl _))
      | .inr ea, .inr ej => replace ea (fun x => (pick x (b n)) + θ * cast (one (J n)) ≤ (pick (J n) (b n)) + θ * cast (one x))
          (replace ej (fun y => 0 + θ * cast (one y) ≤ (pick y (b n)) + θ * cast 0) (le_refl _))
      | .inl ea, .inr ej => replace ea (fun x => (pick x (b n)) + θ * cast (one (J n)) ≤ (pick (J n) (b n)) + θ * cast (one x))
          (replace ej (fun y => b n + θ * cast (one y) ≤ (pick y (b n)) + θ * cast 1)
            (show b n + θ * 0 ≤ 0 + θ * (0 + 1) from le_of (sub_nonneg ((h n (lt_succ_self n)).left ea)) (ring (b n :: θ :: []))))
      | .inr ea, .inl ej => replace ea (fun x => (pick x (b n)) + θ * cast (one (J n)) ≤ (pick (J n) (b n)) + θ * cast (one x))
          (replace ej (fun y => 0 + θ * cast (one y) ≤ (pick y (b n)) + θ * cast 0)
            (show 0 + θ * (0 + 1) ≤ b n + θ * 0 from le_of (sub_nonneg ((h n (lt_succ_self n)).right ea)) (ring (b n :: θ :: []))))
    have e1 : cast (F := F) (chosen J (Nat.succ n)) = cast (chosen J n) + cast (one (J n)) := cast_add _ _
    have e2 : cast (F := F) (chosen A (Nat.succ n)) = cast (chosen A n) + cast (one (A n)) := cast_add _ _
    let x := pick (A n) (b n)
    let y := pick (J n) (b n)
    calc (sumOn A n b + x) + θ * cast (chosen J (Nat.succ n))
        = (sumOn A n b + x) + θ * (cast (chosen J n) + cast (one (J n))) := add_congr rfl (mul_congr rfl e1)
      _ = (sumOn A n b + θ * cast (chosen J n)) + (x + θ * cast (one (J n))) :=
          ring (sumOn A n b :: x :: θ :: cast (chosen J n) :: cast (one (J n)) :: [])
      _ ≤ (sumOn J n b + θ * cast (chosen A n)) + (y + θ * cast (one (A n))) := add_le_add ih last
      _ = (sumOn J n b + y) + θ * (cast (chosen A n) + cast (one (A n))) :=
          ring (sumOn J n b :: y :: θ :: cast (chosen A n) :: cast (one (A n)) :: [])
      _ = (sumOn J n b + y) + θ * cast (chosen A (Nat.succ n)) := add_congr rfl (mul_congr rfl e2.symm)

/-- **Rule `pure_sequences`, lemma O** (the paper's Theorem 4, "contiguous on equal tokens"): among all choices of the same number of
places, one that takes the
places with the smallest `b` has the smallest sum, and one that takes those with the largest `b` has the largest. `θ` is any number that
separates the places taken from the others; ties do no harm. -/
theorem Rule.pure_sequences.extremes (J A : Nat → Bool) (n : Nat) (b : Nat → F) (θ : F) (hc : chosen J n = chosen A n) :
    ((∀ i, i < n → (A i = true → b i ≤ θ) ∧ (A i = false → θ ≤ b i)) → sumOn A n b ≤ sumOn J n b) ∧
    ((∀ i, i < n → (A i = true → θ ≤ b i) ∧ (A i = false → b i ≤ θ)) → sumOn J n b ≤ sumOn A n b) :=
  ⟨fun h =>
    have k := Eq.subst (motive := fun z => sumOn A n b + θ * cast z ≤ sumOn J n b + θ * cast (chosen A n)) hc (sumOn_cmp J A b θ n h)
    le_of (sub_nonneg k) (ring (sumOn A n b :: sumOn J n b :: θ :: cast (chosen A n) :: [])),
   fun h =>
    have neg : ∀ K : Nat → Bool, sumOn K n (fun i => -b i) = -sumOn K n b := fun K =>
      (sumOn_congr K (fun i _ _ => (ring (b i :: []) : -b i = (-1) * b i))).trans ((sumOn_mul K (-1) n b).trans (ring (sumOn K n b :: [])))
    have k := sumOn_cmp J A (fun i => -b i) (-θ) n (fun i hi => ⟨fun e => neg_le_neg ((h i hi).left e), fun e => neg_le_neg ((h i hi).right e)⟩)
    have k' : -sumOn A n b + -θ * cast (chosen A n) ≤ -sumOn J n b + -θ * cast (chosen A n) :=
      calc -sumOn A n b + -θ * cast (chosen A n) = sumOn A n (fun i => -b i) + -θ * cast (chosen J n) :=
            add_congr (neg A).symm (mul_congr rfl (congrArg cast hc.symm))
        _ ≤ sumOn J n (fun i => -b i) + -θ * cast (chosen A n) := k
        _ = -sumOn J n b + -θ * cast (chosen A n) := add_congr (neg J) rfl
    le_of (sub_nonneg k') (ring (sumOn A n b :: sumOn J n b :: θ :: cast (chosen A n) :: []))⟩

/-! ## Lemmas P and W: positions and outputs -/

/-- **Rule `pure_sequences`, lemmas P and W** (the paper's Theorem 6): if `Π` bounds the positional differences, `ū` the direct path, and `W
x` the sum of the token's difference and `Π`, then every
term of a margin is at most `ū + W x`; the position and the output have disappeared from the bound. -/
theorem Rule.pure_sequences.values (C : Circuits F) (r : F) (q i x o m : Nat) (u p w : F) (hu : (C.EU q o - C.EU q m) + r ≤ u)
    (hp : C.PVOU i o - C.PVOU i m ≤ p) (hw : (C.EVOU x o - C.EVOU x m) + p ≤ w) : C.term r q i x o m ≤ u + w :=
  let d := C.EU q o - C.EU q m
  let a := C.EVOU x o - C.EVOU x m
  let b := C.PVOU i o - C.PVOU i m
  calc (d + (a + b)) + r = (d + r) + (a + b) := ring (d :: a :: b :: r :: [])
    _ ≤ u + w := add_le_add hu (le_trans (add_le_add_left hp _) hw)

/-! ## Lemma X: purity -/

/-- **Rule `pure_sequences`, lemma X** (the paper's Theorem 7, in its separable form): with positive position weights `b`, if every constant
choice of a good token `x` has
`N + (Σ b i) g(x) < 0`, then so has every choice of good tokens, one per place. `N` collects the frozen places. -/
theorem Rule.pure_sequences.purity (n : Nat) (b : Nat → F) (hb : ∀ i, i < Nat.succ n → 0 < b i) (N : F) (g : Nat → F) (good : Nat → Bool)
    (h : ∀ x, good x = true → N + sum (Nat.succ n) b * g x < 0) (s : Nat → Nat) (hs : ∀ i, i < Nat.succ n → good (s i) = true) :
    N + sum (Nat.succ n) (fun i => b i * g (s i)) < 0 :=
  let B := sum (Nat.succ n) b
  have hB : 0 < B := sum_pos hb
  have each : ∀ i, i < Nat.succ n → 0 < b i * (0 - (N + B * g (s i))) := fun i hi => mul_pos (hb i hi) (sub_pos (h (s i) (hs i hi)))
  have e : sum (Nat.succ n) (fun i => b i * (0 - (N + B * g (s i)))) = B * (0 - (N + sum (Nat.succ n) (fun i => b i * g (s i)))) :=
    calc sum (Nat.succ n) (fun i => b i * (0 - (N + B * g (s i))))
        = sum (Nat.succ n) (fun i => b i * (0 - N) - B * (b i * g (s i))) := sum_congr (fun i _ => ring (b i :: N :: B :: g (s i) :: []))
      _ = sum (Nat.succ n) (fun i => b i * (0 - N)) - sum (Nat.succ n) (fun i => B * (b i * g (s i))) := sum_sub _ _ _
      _ = B * (0 - N) - B * sum (Nat.succ n) (fun i => b i * g (s i)) := sub_congr (sum_mul_right _ _ _) (sum_mul_left _ _ _)
      _ = B * (0 - (N + sum (Nat.succ n) (fun i => b i * g (s i)))) := ring (B :: N :: sum (Nat.succ n) (fun i => b i * g (s i)) :: [])
  lt_of (pos_of_mul (le_of_lt hB) (pos_of (sum_pos each) e.symm)) rfl

/-- A linear function that is negative at both ends of an interval is negative in between. -/
theorem linear_neg {α β lo hi x : F} (hl : lo ≤ x) (hh : x ≤ hi) (kl : α + β * lo < 0) (kh : α + β * hi < 0) : α + β * x < 0 :=
  (ExpField.le_total 0 β).elim
    (fun h => lt_of_le_of_lt (add_le_add_left (mul_le_mul_left hh h) α) kh)
    (fun h => lt_of_le_of_lt (le_of (mul_nonneg (neg_nonneg h) (sub_nonneg hl)) (ring (α :: β :: lo :: x :: []))) kl)

/-- The factor of the weight that the token contributes. -/
def Circuits.tokenWeight (C : Circuits F) (q x : Nat) : F := exp (C.scale * C.EQKE q x)
/-- The factor of the weight that the position contributes. -/
def Circuits.placeWeight (C : Circuits F) (q i : Nat) : F := exp (C.scale * C.EQKP q i)
theorem Circuits.weight_eq (C : Circuits F) (q i x : Nat) : C.weight q i x = C.tokenWeight q x * C.placeWeight q i :=
  (congrArg exp (mul_add _ _ _)).trans (exp_add _ _)

/-- The score of the arrangement in which the other token's places have total place weight `x`, times the (positive) sum of its weights: `D`
is `token weight * value`, for the maximum, the other token
and the query; `T` is the total place weight of the first `n` places and `bq` that of the query. Dividing by the sum of the weights gives
the relaxed score of the paper. -/
def arrangement (T x bq Dm Dt Dq : F) : F := ((T - x) * Dm + x * Dt) + bq * Dq

/-- **Rule `pure_sequences`** (the cubic proof; the paper's Theorem 11 with Theorems 4, 6, 7, Lemmas 8 and 9 and Corollary 10). Suppose
`value o x` bounds every term of the margin of output `o`; suppose every choice of `c`
of the first `n` places has a total place weight between `lo` and `hi`; and suppose that for every good token `x` the two pure arrangements
have negative score (for `c = 0`: the one arrangement there is). Then the model is right on every
mixed sequence of the class. -/
theorem Rule.pure_sequences (C : Circuits F) (O n : Nat) (r : F) (k : Class) (value : Nat → Nat → F) (lo hi : F)
    (hvalue : ∀ o, o < O → o ≠ k.m → ∀ i, i < Nat.succ n → ∀ x, x = k.m ∨ k.good x = true ∨ x = k.q →
      C.term r k.q i x o k.m ≤ value o x)
    (hlo : ∀ J : Nat → Bool, chosen J n = k.c → lo ≤ sumOn J n (C.placeWeight k.q) ∧ sumOn J n (C.placeWeight k.q) ≤ hi)
    (hpure : ∀ o, o < O → o ≠ k.m → ∀ x, k.good x = true → ∀ e, e = lo ∨ e = hi →
      arrangement (sum n (C.placeWeight k.q)) e (C.placeWeight k.q n) (C.tokenWeight k.q k.m * value o k.m)
        (C.tokenWeight k.q x * value o x) (C.tokenWeight k.q k.q * value o k.q) < 0)
    (hnone : k.c = 0 → ∀ o, o < O → o ≠ k.m →
      sum n (C.placeWeight k.q) * (C.tokenWeight k.q k.m * value o k.m) + C.placeWeight k.q n * (C.tokenWeight k.q k.q * value o k.q) < 0)
    (t : Nat → Nat) (ht : k.has n t = true) : C.Correct O n r t k.m :=
  fun o ho hne =>
  have hq : t n = k.q := beq_eq (both_left ht)
  have spec := mixed_spec k.good k.m n k.c t (both_right ht)
  let b := C.placeWeight k.q
  let D := fun x => C.tokenWeight k.q x * value o x
  let J := differs k.m t
  let x := sumOn J n b
  let T := sum n b
  have bpos : ∀ i, i < n → 0 < b i := fun i _ => exp_pos _
  -- the places that do not hold `m`, and those that do
  have rest : sumOn (fun i => not (J i)) n (fun i => b i * D (t i)) = (T - x) * D k.m :=
    have tot : T = x + sumOn (fun i => not (J i)) n b := sumOn_split J n b
    calc sumOn (fun i => not (J i)) n (fun i => b i * D (t i))
        = sumOn (fun i => not (J i)) n (fun i => b i * D k.m) := sumOn_congr _ (fun i _ hJ =>
            have e : t i = k.m := match bool_cases (Nat.beq (t i) k.m) with
              | .inl e => beq_eq e
              | .inr e => absurd (Eq.subst (motive := fun z => not (not z) = true) e hJ).symm true_ne_false
            replace e (fun z => b i * D z = b i * D k.m) rfl)
      _ = sumOn (fun i => not (J i)) n b * D k.m := sumOn_mul_right _ (D k.m) n b
      _ = (T - x) * D k.m := mul_congr (calc sumOn (fun i => not (J i)) n b
            = (x + sumOn (fun i => not (J i)) n b) - x := ring (x :: sumOn (fun i => not (J i)) n b :: [])
          _ = T - x := sub_congr tot.symm rfl) rfl
  let Y := sumOn J n (fun i => b i * D (t i))
  have total : sum (Nat.succ n) (fun i => b i * D (t i)) = ((T - x) * D k.m + Y) + b n * D k.q :=
    add_congr ((sumOn_split J n _).trans ((add_congr rfl rest).trans (add_comm _ _))) (replace hq (fun z => b n * D z = b n * D k.q) rfl)
  have negative : sum (Nat.succ n) (fun i => b i * D (t i)) < 0 :=
    match nat_lt_or_le 0 k.c with
    | .inr hc0 =>
      have c0 : k.c = 0 := nat_le_antisymm hc0 (nat_zero_le _)
      have none : ∀ i, i < n → t i = k.m := fun i hi => (spec.left i hi).elim id (fun g =>
        match bool_cases (J i) with
        | .inl e =>
          have p : 0 < chosen J n := pos_chosen J n i hi e
          absurd (Eq.subst (motive := fun z => 0 < z) (spec.right.trans c0) p) not_lt_zero
        | .inr e => absurd (Eq.subst (motive := fun z => not z = false) (beq_false g.left) e) true_ne_false)
      have e : sum (Nat.succ n) (fun i => b i * D (t i)) = T * D k.m + b n * D k.q :=
        add_congr ((sum_congr (fun i hi => replace (none i hi) (fun z => b i * D z = b i * D k.m) rfl)).trans (sum_mul_right n (D k.m) b))
          (replace hq (fun z => b n * D z = b n * D k.q) rfl)
      replace e (fun z => z < 0) (hnone c0 o ho hne)
    | .inl cpos =>
      have some : 0 < chosen J n := replace spec.right (fun z => 0 < z) cpos
      have xpos : 0 < x := sumOn_pos_terms J (fun i hi _ => bpos i hi) some
      have bounds := hlo J spec.right
      let a := fun y => arrangement T x (b n) (D k.m) (D y) (D k.q)
      have pure : ∀ y, k.good y = true → a y < 0 := fun y hy =>
        have at_end : ∀ e, arrangement T e (b n) (D k.m) (D y) (D k.q) = (T * D k.m + b n * D k.q) + (D y - D k.m) * e := fun e =>
          show ((T - e) * D k.m + e * D y) + b n * D k.q = (T * D k.m + b n * D k.q) + (D y - D k.m) * e from
            ring (T :: e :: D k.m :: D y :: b n :: D k.q :: [])
        replace (at_end x) (fun z => z < 0) (linear_neg bounds.left bounds.right
          (replace (at_end lo).symm (fun z => z < 0) (hpure o ho hne y hy lo (.inl rfl)))
          (replace (at_end hi).symm (fun z => z < 0) (hpure o ho hne y hy hi (.inr rfl))))
      have each : ∀ i, i < n → J i = true → 0 < b i * (0 - a (t i)) := fun i hi hJ =>
        mul_pos (bpos i hi) (sub_pos (pure (t i) ((spec.left i hi).elim
          (fun e => absurd (Eq.subst (motive := fun z => not z = true) (beq_of_eq e) hJ).symm true_ne_false) (fun g => g.right))))
      have e : sumOn J n (fun i => b i * (0 - a (t i))) = x * (0 - (((T - x) * D k.m + Y) + b n * D k.q)) :=
        calc sumOn J n (fun i => b i * (0 - a (t i)))
            = sumOn J n (fun i => b i * (0 - ((T - x) * D k.m + b n * D k.q)) + (-x) * (b i * D (t i))) :=
              sumOn_congr J (fun i _ _ =>
                show b i * (0 - (((T - x) * D k.m + x * D (t i)) + b n * D k.q)) = b i * (0 - ((T - x) * D k.m + b n * D k.q)) + (-x) * (b i * D (t i)) from
                ring (b i :: T :: x :: D k.m :: D (t i) :: b n :: D k.q :: []))
          _ = sumOn J n (fun i => b i * (0 - ((T - x) * D k.m + b n * D k.q))) + sumOn J n (fun i => (-x) * (b i * D (t i))) := sumOn_add J n _ _
          _ = x * (0 - ((T - x) * D k.m + b n * D k.q)) + (-x) * Y := add_congr (sumOn_mul_right J _ n b) (sumOn_mul J (-x) n _)
          _ = x * (0 - (((T - x) * D k.m + Y) + b n * D k.q)) := ring (x :: T :: D k.m :: Y :: b n :: D k.q :: [])
      replace total (fun z => z < 0)
        (lt_of (pos_of_mul (le_of_lt xpos) (pos_of (sumOn_pos_terms J each some) e.symm)) rfl)
  have upper : sum (Nat.succ n) (fun i => C.weight (t n) i (t i) * (C.term r (t n) i (t i) o k.m)) ≤ sum (Nat.succ n) (fun i => b i * D (t i)) :=
    sum_le (fun i hi => replace hq (fun y => C.weight y i (t i) * C.term r y i (t i) o k.m ≤ b i * D (t i))
      (calc C.weight k.q i (t i) * C.term r k.q i (t i) o k.m
          = (C.tokenWeight k.q (t i) * b i) * C.term r k.q i (t i) o k.m := mul_congr (C.weight_eq k.q i (t i)) rfl
        _ ≤ (C.tokenWeight k.q (t i) * b i) * value o (t i) :=
            mul_le_mul_left (hvalue o ho hne i hi (t i) ((lt_or_eq_of_lt_succ hi).elim
              (fun hi => (spec.left i hi).elim .inl (fun g => .inr (.inl g.right)))
              (fun e => .inr (.inr (replace e (fun i => t i = k.q) hq))))) (mul_nonneg (exp_nonneg _) (exp_nonneg _))
        _ = b i * D (t i) := show (C.tokenWeight k.q (t i) * b i) * value o (t i) = b i * (C.tokenWeight k.q (t i) * value o (t i)) from
            ring (C.tokenWeight k.q (t i) :: b i :: value o (t i) :: [])))
  (Rule.margins C n t o k.m r 1 (fun i => C.weight (t n) i (t i)) zero_lt_one (fun i _ => (one_mul _).symm)).left.mpr (lt_of_le_of_lt upper negative)
end
end CompactProofs
