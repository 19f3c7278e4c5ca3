import CompactProofs.Accuracy
/-!
# Exact counts and counts by convolution: rules `margin_tree` and `margin_convolution`

Both count, for a fixed query and maximum, the sequences that fail through some output: those for which a sum of terms, one per place, is
not negative.
-/
namespace CompactProofs
noncomputable section
variable {F : Type} [ExpField F]

/-! ## Branch and bound -/

/-- **Rule `margin_tree`, wholly right and wholly wrong.** Some places are `fixed`, where the sequence `s` agrees with `t`; on the others
the terms lie between `worst i` and `best i`. If the fixed terms plus the best (worst) remainder are negative (nonnegative),
so is the sum for every such `s`. -/
theorem Rule.margin_tree.remainder (n : Nat) (G : Nat → Nat → F) (fixed : Nat → Bool) (t s : Nat → Nat) (best worst : Nat → F)
    (hs : ∀ i, i < n → fixed i = true → s i = t i) (hb : ∀ i, i < n → fixed i = false → worst i ≤ G i (s i) ∧ G i (s i) ≤ best i) :
    (sum n (fun i => match fixed i with | true => G i (t i) | false => best i) < 0 → sum n (fun i => G i (s i)) < 0) ∧
    (0 ≤ sum n (fun i => match fixed i with | true => G i (t i) | false => worst i) → 0 ≤ sum n (fun i => G i (s i))) :=
  ⟨fun h => lt_of_le_of_lt (sum_le (fun i hi =>
      match bool_cases (fixed i) with
      | .inl e => replace e (fun z => G i (s i) ≤ (match z with | true => G i (t i) | false => best i))
          (replace (hs i hi e) (fun x => G i x ≤ G i (t i)) (le_refl _))
      | .inr e => replace e (fun z => G i (s i) ≤ (match z with | true => G i (t i) | false => best i)) (hb i hi e).right)) h,
   fun h => le_trans h (sum_le (fun i hi =>
      match bool_cases (fixed i) with
      | .inl e => replace e (fun z => (match z with | true => G i (t i) | false => worst i) ≤ G i (s i))
          (replace (hs i hi e) (fun x => G i (t i) ≤ G i x) (le_refl _))
      | .inr e => replace e (fun z => (match z with | true => G i (t i) | false => worst i) ≤ G i (s i)) (hb i hi e).left))⟩

/-- **Rule `margin_tree`, screening.** When some place holds `m`, the largest sum is at most `Σ best i` less the cheapest switch of one
place to `m`. -/
theorem Rule.margin_tree.screening (n : Nat) (G : Nat → Nat → F) (m : Nat) (s : Nat → Nat) (best : Nat → F) (δ : F)
    (hb : ∀ i, i < n → G i (s i) ≤ best i) (hδ : ∀ i, i < n → δ ≤ best i - G i m) (j : Nat) (hj : j < n) (e : s j = m) :
    sum n (fun i => G i (s i)) ≤ sum n best - δ :=
  have gap : best j - G j (s j) ≤ sum n (fun i => best i - G i (s i)) := term_le_sum (fun i hi => sub_nonneg (hb i hi)) j hj
  have d : δ ≤ sum n best - sum n (fun i => G i (s i)) :=
    calc δ ≤ best j - G j m := hδ j hj
      _ = best j - G j (s j) := replace e (fun x => best j - G j m = best j - G j x) rfl
      _ ≤ sum n (fun i => best i - G i (s i)) := gap
      _ = sum n best - sum n (fun i => G i (s i)) := sum_sub n _ _
  le_of (sub_nonneg d) (ring (sum n best :: δ :: sum n (fun i => G i (s i)) :: []))

/-- A tree over the fillings of the first `n` places of `t` (the places are numbered so that the first to be walked comes last), with a
number of sequences proved right and a number proved wrong. -/
inductive Tree (v : Nat) (correct : (Nat → Nat) → Bool) : Nat → (Nat → Nat) → Nat → Nat → Prop where
  /-- All fillings are right. -/
  | right (n : Nat) (t : Nat → Nat) (h : ∀ s, Fills v n t s → correct s = true) : Tree v correct n t (pow v n) 0
  /-- All fillings are wrong. -/
  | wrong (n : Nat) (t : Nat → Nat) (h : ∀ s, Fills v n t s → correct s = false) : Tree v correct n t 0 (pow v n)
  /-- Nothing is claimed. -/
  | undecided (n : Nat) (t : Nat → Nat) : Tree v correct n t 0 0
  /-- One subtree for each token at the next place. -/
  | branch (n : Nat) (t : Nat → Nat) (r w : Nat → Nat) (h : ∀ x, x < v → Tree v correct n (update t n x) (r x) (w x)) :
      Tree v correct (Nat.succ n) t (sumNat v r) (sumNat v w)

/-- **Rule `margin_tree`.** The numbers of sequences that the tree proves right and wrong are lower bounds of the true numbers; if nothing
is undecided (the two add up to all) they are exact. -/
theorem Rule.margin_tree (v : Nat) (correct : (Nat → Nat) → Bool) (n : Nat) (t : Nat → Nat) (r w : Nat) (h : Tree v correct n t r w) :
    (r ≤ count v n correct t ∧ w ≤ count v n (fun s => not (correct s)) t) ∧
    (r + w = pow v n → r = count v n correct t ∧ w = count v n (fun s => not (correct s)) t) :=
  have bounds : r ≤ count v n correct t ∧ w ≤ count v n (fun s => not (correct s)) t :=
    Tree.rec (v := v) (correct := correct) (motive := fun n t r w _ => r ≤ count v n correct t ∧ w ≤ count v n (fun s => not (correct s)) t)
      (fun n t h => ⟨replace (count_all v n t).symm (fun x => x ≤ count v n correct t) (count_le (fun s hs _ => h s hs)), nat_zero_le _⟩)
      (fun n t h => ⟨nat_zero_le _, replace (count_all v n t).symm (fun x => x ≤ count v n (fun s => not (correct s)) t)
        (count_le (fun s hs _ => replace (h s hs) (fun b => not b = true) rfl))⟩)
      (fun n t => ⟨nat_zero_le _, nat_zero_le _⟩)
      (fun n t r w _ ih => ⟨sumNat_le (fun x hx => (ih x hx).left), sumNat_le (fun x hx => (ih x hx).right)⟩) h
  ⟨bounds, fun e =>
    have all : count v n correct t + count v n (fun s => not (correct s)) t = r + w := (count_not v n correct t).trans e.symm
    ⟨nat_le_antisymm bounds.left (nat_le_of_add_le_add_right (count v n (fun s => not (correct s)) t)
        (nat_le_trans (replace all (fun x => x ≤ r + w) (nat_le_refl _)) (nat_add_le_add (nat_le_refl r) bounds.right))),
     nat_le_antisymm bounds.right (nat_le_of_add_le_add_right (count v n correct t)
        (nat_le_trans (replace ((nat_add_comm _ _).trans all) (fun x => x ≤ w + r) (replace (nat_add_comm r w) (fun x => x ≤ w + r) (nat_le_refl _)))
          (nat_add_le_add (nat_le_refl w) bounds.left)))⟩⟩

/-! ## Maximum exactly `m` -/

/-- The sequences over `{0..m}` with query `q` and maximum `m`: without a restriction if `q = m`, otherwise those not over `{0..m-1}`. Here
`top` says whether the query is `m`. -/
def inClass (top : Bool) (m n : Nat) (s : Nat → Nat) : Bool := both (allBelow (Nat.succ m) n s) (either top (not (allBelow m n s)))

theorem allBelow_mono {a b : Nat} (h : a ≤ b) (n : Nat) (s : Nat → Nat) (k : allBelow a n s = true) : allBelow b n s = true :=
  (allBelow_iff b n s).mpr (fun i hi => nat_lt_of_lt_of_le ((allBelow_iff a n s).mp k i hi) h)

theorem exactly_one (m n : Nat) (s : Nat → Nat) (y : Bool) :
    one (both (inClass false m n s) y) + one (both (allBelow m n s) y) = one (both (allBelow (Nat.succ m) n s) y) :=
  show one (both (both (allBelow (Nat.succ m) n s) (not (allBelow m n s))) y) + one (both (allBelow m n s) y) = one (both (allBelow (Nat.succ m) n s) y) from
  match bool_cases (allBelow m n s) with
  | .inl e => replace e (fun b => one (both (both (allBelow (Nat.succ m) n s) (not b)) y) + one (both b y) = one (both (allBelow (Nat.succ m) n s) y))
      (replace (allBelow_mono (nat_le_of_lt (lt_succ_self m)) n s e) (fun b => one (both (both b (not true)) y) + one (both true y) = one (both b y)) (nat_zero_add _))
  | .inr e => replace e (fun b => one (both (both (allBelow (Nat.succ m) n s) (not b)) y) + one (both b y) = one (both (allBelow (Nat.succ m) n s) y))
      (match allBelow (Nat.succ m) n s with
        | true => rfl
        | false => rfl)

/-- **Rule `margin_convolution`, subtraction:** the sequences with maximum exactly `m` and a property are those over `{0..m}` with the
property, less (for a query below `m`) those over `{0..m-1}`. -/
theorem Rule.margin_convolution.exactly (v m n : Nat) (hm : m < v) (p : (Nat → Nat) → Bool) (t : Nat → Nat) :
    count v n (fun s => both (inClass true m n s) (p s)) t = count (Nat.succ m) n p t ∧
    count v n (fun s => both (inClass false m n s) (p s)) t + count m n p t = count (Nat.succ m) n p t :=
  have all : count v n (fun s => both (allBelow (Nat.succ m) n s) (p s)) t = count (Nat.succ m) n p t := count_allBelow hm p n t
  have low : count v n (fun s => both (allBelow m n s) (p s)) t = count m n p t := count_allBelow (nat_le_of_lt hm) p n t
  ⟨(count_congr (fun s _ =>
      show both (both (allBelow (Nat.succ m) n s) (either true (not (allBelow m n s)))) (p s) = both (allBelow (Nat.succ m) n s) (p s) from
      match allBelow (Nat.succ m) n s with
      | true => rfl
      | false => rfl)).trans all,
   calc count v n (fun s => both (inClass false m n s) (p s)) t + count m n p t
      = count v n (fun s => both (inClass false m n s) (p s)) t + count v n (fun s => both (allBelow m n s) (p s)) t := nat_add_congr rfl low.symm
    _ = sumOver v n (fun s => one (both (inClass false m n s) (p s)) + one (both (allBelow m n s) (p s))) t := (sumOver_add v n _ _ t).symm
    _ = count v n (fun s => both (allBelow (Nat.succ m) n s) (p s)) t := sumOver_congr (fun s _ => exactly_one m n s (p s))
    _ = count (Nat.succ m) n p t := all⟩

/-- **Size of a class:** `(m+1)^n`, less `m^n` for a query below `m`. -/
theorem Rule.margin_convolution.class_size (v m n : Nat) (hm : m < v) (t : Nat → Nat) :
    count v n (inClass true m n) t = pow (Nat.succ m) n ∧ count v n (inClass false m n) t + pow m n = pow (Nat.succ m) n :=
  have h := Rule.margin_convolution.exactly v m n hm (fun _ => true) t
  have drop : ∀ top, count v n (inClass top m n) t = count v n (fun s => both (inClass top m n s) true) t := fun top =>
    count_congr (fun s _ => match inClass top m n s with
      | true => rfl
      | false => rfl)
  ⟨(drop true).trans (h.left.trans (count_all (Nat.succ m) n t)),
   (nat_add_congr (drop false) (count_all m n t).symm).trans (h.right.trans (count_all (Nat.succ m) n t))⟩

/-! ## The recursion -/

/-- The number of choices of one token below `b` at each of `n` places whose grid values `g i x` add up to at least `θ`, by the recursion of
the rule: one place at a time. Subtraction stops at 0, which is
the rule's remark that what has reached the threshold stays there. -/
def tail (b : Nat) (g : Nat → Nat → Nat) : Nat → Nat → Nat
  | .zero, θ => one (Nat.ble θ 0)
  | .succ n, θ => sumNat b (fun x => tail b g n (θ - g n x))

theorem ble_sub (θ a b : Nat) : Nat.ble (θ - a) b = Nat.ble θ (b + a) :=
  match bool_cases (Nat.ble θ (b + a)) with
  | .inl h => (le_ble (sub_le_of_le_add a b (ble_le h))).trans h.symm
  | .inr h => (eq_false_of_ne_true (fun k => true_ne_false ((le_ble (le_add_of_sub_le a b (ble_le k))).symm.trans h))).trans h.symm

/-- **Rule `margin_convolution`, the recursion counts what it says.** -/
theorem Rule.margin_convolution.recursion (b : Nat) (g : Nat → Nat → Nat) : (n θ : Nat) → (t : Nat → Nat) →
    tail b g n θ = count b n (fun s => Nat.ble θ (sumNat n (fun i => g i (s i)))) t
  | .zero, _, _ => rfl
  | .succ n, θ, t => sumNat_congr (fun x _ =>
      (Rule.margin_convolution.recursion b g n (θ - g n x) (update t n x)).trans (count_congr (fun s hs =>
        show Nat.ble (θ - g n x) (sumNat n (fun i => g i (s i))) = Nat.ble θ (sumNat n (fun i => g i (s i)) + g n (s n)) from
        replace hs.place (fun y => Nat.ble (θ - g n x) (sumNat n (fun i => g i (s i))) = Nat.ble θ (sumNat n (fun i => g i (s i)) + g n y)) (ble_sub θ (g n x) _))))

/-- The coefficients of the product of the polynomials `Σ_x X^(g i x)`, one factor for each place. -/
def coefficient (b : Nat) (g : Nat → Nat → Nat) : Nat → Nat → Nat
  | .zero, e => one (Nat.beq e 0)
  | .succ n, e => sumNat b (fun x => match Nat.ble (g n x) e with | true => coefficient b g n (e - g n x) | false => 0)

theorem sub_add_cancel_of_le {a : Nat} : (c : Nat) → c ≤ a → (a - c) + c = a
  | c, h => nat_le_antisymm
      (match nat_le_add_sub a c h with | k => k)
      (le_add_of_sub_le c (a - c) (nat_le_refl _))
where
  nat_le_add_sub (a : Nat) : (c : Nat) → c ≤ a → (a - c) + c ≤ a
    | .zero, _ => nat_le_refl a
    | .succ c, h =>
      have ih := nat_le_add_sub a c (nat_le_of_lt h)
      have pos : 0 < a - c := le_sub_of_add_le c (replace (nat_succ_add 0 c) (fun x => x ≤ a) (replace (nat_zero_add c) (fun x => Nat.succ x ≤ a) h))
      replace (pred_add (a - c) c pos) (fun x => x ≤ a) ih
  pred_add : (y c : Nat) → 0 < y → Nat.pred y + Nat.succ c = y + c
    | .zero, _, h => (not_lt_zero h).elim
    | .succ y, c, _ => (nat_succ_add y c).symm
theorem add_right_eq {a b : Nat} : (c : Nat) → a + c = b + c → a = b
  | .zero, h => h
  | .succ c, h => add_right_eq c (congrArg Nat.pred h)

/-- **Rule `margin_convolution`, polynomials:** the coefficient of `X^e` is the number of choices whose values add up to exactly `e`. -/
theorem Rule.margin_convolution.polynomial (b : Nat) (g : Nat → Nat → Nat) : (n e : Nat) → (t : Nat → Nat) →
    coefficient b g n e = count b n (fun s => Nat.beq e (sumNat n (fun i => g i (s i)))) t
  | .zero, _, _ => rfl
  | .succ n, e, t => sumNat_congr (fun x _ =>
      match bool_cases (Nat.ble (g n x) e) with
      | .inl h => replace h (fun c => (match c with | true => coefficient b g n (e - g n x) | false => 0) = count b n (fun s => Nat.beq e (sumNat (Nat.succ n) (fun i => g i (s i)))) (update t n x))
          ((Rule.margin_convolution.polynomial b g n (e - g n x) (update t n x)).trans (count_congr (fun s hs =>
            replace hs.place (fun y => Nat.beq (e - g n x) (sumNat n (fun i => g i (s i))) = Nat.beq e (sumNat n (fun i => g i (s i)) + g n y))
              (have c := sub_add_cancel_of_le (g n x) (ble_le h)
               match bool_cases (Nat.beq e (sumNat n (fun i => g i (s i)) + g n x)) with
               | .inl k => (beq_of_eq (add_right_eq (g n x) (c.trans (beq_eq k)))).trans k.symm
               | .inr k => (beq_false (fun l => ne_of_beq_false k (c.symm.trans (nat_add_congr l rfl)))).trans k.symm))))
      | .inr h => replace h (fun c => (match c with | true => coefficient b g n (e - g n x) | false => 0) = count b n (fun s => Nat.beq e (sumNat (Nat.succ n) (fun i => g i (s i)))) (update t n x))
          ((sumOver_const b 0 n (update t n x)).symm.trans (sumOver_congr (fun s hs =>
            (congrArg one (replace hs.place (fun y => Nat.beq e (sumNat n (fun i => g i (s i)) + g n y) = false)
              (beq_false (fun l => true_ne_false ((le_ble (replace l (fun z => g n x ≤ z)
                (replace (nat_add_comm (sumNat n (fun i => g i (s i))) (g n x)) (fun z => g n x ≤ z) (nat_le_add_right _ _)))).symm.trans h))))).symm))))

/-- **Rule `margin_convolution`, rounding up.** The terms `G i x` are at most `h * g i x - c i` (grid step `h`, grid values `g`, offsets `c`
that make them natural), and `θ` is such that grid sums below it are certainly negative sums, together with the term of the query. Then
every sequence that fails has a grid sum of
at least `θ`: rounding can only raise the count. -/
theorem Rule.margin_convolution.rounding (n : Nat) (G : Nat → Nat → F) (g : Nat → Nat → Nat) (c : Nat → F) (h last : F) (θ : Nat) (s : Nat → Nat)
    (hG : ∀ i, i < n → G i (s i) ≤ h * cast (g i (s i)) - c i) (hθ : ∀ z, z < θ → (h * cast z - sum n c) + last < 0)
    (fails : 0 ≤ sum n (fun i => G i (s i)) + last) : θ ≤ sumNat n (fun i => g i (s i)) :=
  have castSum : ∀ n : Nat, sum n (fun i => cast (F := F) (g i (s i))) = cast (sumNat n (fun i => g i (s i))) := sumCast g s
  (nat_lt_or_le (sumNat n (fun i => g i (s i))) θ).elim
    (fun k => absurd fails (lt_of_le_of_lt (add_le_add_right
      (calc sum n (fun i => G i (s i)) ≤ sum n (fun i => h * cast (g i (s i)) - c i) := sum_le hG
        _ = h * cast (sumNat n (fun i => g i (s i))) - sum n c := (sum_sub n _ _).trans (sub_congr ((sum_mul_left n h _).trans (mul_congr rfl (castSum n))) rfl)) last) (hθ _ k)))
    id
where
  sumCast (g : Nat → Nat → Nat) (s : Nat → Nat) : (n : Nat) → sum n (fun i => cast (F := F) (g i (s i))) = cast (sumNat n (fun i => g i (s i)))
    | .zero => rfl
    | .succ n => (add_congr (sumCast g s n) rfl).trans (cast_add _ _).symm

/-- **Rule `margin_convolution`, rounding down** (items `lower`): the other way round, a grid sum that reaches a threshold from which on the
sums are certainly nonnegative proves that the sequence fails. -/
theorem Rule.margin_convolution.rounding_down (n : Nat) (G : Nat → Nat → F) (g : Nat → Nat → Nat) (c : Nat → F) (h last : F) (θ : Nat) (s : Nat → Nat)
    (hG : ∀ i, i < n → h * cast (g i (s i)) - c i ≤ G i (s i)) (hθ : ∀ z, θ ≤ z → 0 ≤ (h * cast z - sum n c) + last)
    (reached : θ ≤ sumNat n (fun i => g i (s i))) : 0 ≤ sum n (fun i => G i (s i)) + last :=
  calc 0 ≤ (h * cast (sumNat n (fun i => g i (s i))) - sum n c) + last := hθ _ reached
    _ ≤ sum n (fun i => G i (s i)) + last := add_le_add_right
      (calc h * cast (sumNat n (fun i => g i (s i))) - sum n c = sum n (fun i => h * cast (g i (s i)) - c i) :=
            ((sum_sub n _ _).trans (sub_congr ((sum_mul_left n h _).trans (mul_congr rfl (Rule.margin_convolution.rounding.sumCast g s n))) rfl)).symm
        _ ≤ sum n (fun i => G i (s i)) := sum_le hG) last

/-- Fails through one of a list of groups of outputs. -/
def anyFails : List ((Nat → Nat) → Bool) → (Nat → Nat) → Bool
  | [], _ => false
  | f :: l, s => either (f s) (anyFails l s)
def sumCounts (v n : Nat) (t : Nat → Nat) : List ((Nat → Nat) → Bool) → Nat
  | [] => 0
  | f :: l => count v n f t + sumCounts v n t l

/-- **Rule `margin_convolution`, union bound** over groups of outputs. -/
theorem Rule.margin_convolution.union (v n : Nat) (t : Nat → Nat) : (l : List ((Nat → Nat) → Bool)) → count v n (anyFails l) t ≤ sumCounts v n t l
  | [] => replace (sumOver_const v 0 n t) (fun x => x ≤ 0) (nat_le_refl 0)
  | f :: l => nat_le_trans (count_either_le (p := f) (q := anyFails l) (fun s _ h => either_elim h))
      (nat_add_le_add (nat_le_refl _) (Rule.margin_convolution.union v n t l))

/-- The number of sequences that have both properties, summed over the properties of a list. -/
def sumShared (v n : Nat) (t : Nat → Nat) (f : (Nat → Nat) → Bool) : List ((Nat → Nat) → Bool) → Nat
  | [] => 0
  | g :: l => count v n (fun s => both (f s) (g s)) t + sumShared v n t f l
theorem shared_le (v n : Nat) (t : Nat → Nat) (f : (Nat → Nat) → Bool) : (l : List ((Nat → Nat) → Bool)) →
    count v n (fun s => both (f s) (anyFails l s)) t ≤ sumShared v n t f l
  | [] => replace ((sumOver_congr (g := fun _ => 0) (fun s _ => show one (both (f s) false) = 0 from match f s with
      | true => rfl
      | false => rfl)).trans (sumOver_const v 0 n t)) (fun x => x ≤ 0) (nat_le_refl 0)
  | g :: l => nat_le_trans (count_either_le (p := fun s => both (f s) (g s)) (q := fun s => both (f s) (anyFails l s))
      (fun s _ h => (either_elim (both_right h)).elim (fun k => .inl (both_intro (both_left h) k)) (fun k => .inr (both_intro (both_left h) k))))
      (nat_add_le_add (nat_le_refl _) (shared_le v n t f l))

/-- Bonferroni's inequality along a list: starting from the end, every property adds its count (or a lower bound `a` of it) less the counts
it shares with those already added (or an upper bound `b` of their sum). -/
inductive Bonferroni (v n : Nat) (t : Nat → Nat) : List ((Nat → Nat) → Bool) → Nat → Prop where
  | nil : Bonferroni v n t [] 0
  | add (f : (Nat → Nat) → Bool) (l : List ((Nat → Nat) → Bool)) (N a b : Nat) (h : Bonferroni v n t l N)
      (ha : a ≤ count v n f t) (hb : sumShared v n t f l ≤ b) : Bonferroni v n t (f :: l) (N + (a - b))

/-- **Rule `margin_convolution`, failures from below:** what Bonferroni's inequality adds up is at most the number of sequences that fail
through one of the outputs. -/
theorem Rule.margin_convolution.bonferroni (v n : Nat) (t : Nat → Nat) (l : List ((Nat → Nat) → Bool)) (N : Nat) (h : Bonferroni v n t l N) :
    N ≤ count v n (anyFails l) t :=
  Bonferroni.rec (v := v) (n := n) (t := t) (motive := fun l N _ => N ≤ count v n (anyFails l) t) (nat_zero_le _)
    (fun f l N a b _ ha hb ih =>
      have shared : count v n (fun s => both (f s) (anyFails l s)) t ≤ b := nat_le_trans (shared_le v n t f l) hb
      have more : a - b ≤ count v n (fun s => both (f s) (not (anyFails l s))) t :=
        sub_le_of_le_add b _ (nat_le_trans ha (nat_le_trans
          (replace (count_split v n f (anyFails l) t).symm (fun x => x ≤ count v n (fun s => both (f s) (not (anyFails l s))) t + count v n (fun s => both (f s) (anyFails l s)) t)
            (replace (nat_add_comm _ _) (fun x => x ≤ count v n (fun s => both (f s) (not (anyFails l s))) t + count v n (fun s => both (f s) (anyFails l s)) t) (nat_le_refl _)))
          (nat_add_le_add (nat_le_refl _) shared)))
      nat_le_trans (nat_add_le_add ih more) (count_disjoint
        (fun s k => match bool_cases (f s) with
          | .inl e => replace e (fun b => either b (anyFails l s) = true) rfl
          | .inr e => replace e (fun b => either b (anyFails l s) = true) k)
        (fun s k => replace (both_left k) (fun b => either b (anyFails l s) = true) rfl)
        (fun s k => replace k (fun b => both (f s) (not b) = false) (match f s with
          | true => rfl
          | false => rfl)))) h

/-- **Rule `margin_convolution`** for one class and one group of outputs. `fails` marks the sequences of the class (query fixed, maximum
exactly `m`) that are not certainly right through the outputs of the group; `g` bounds the terms of *every* output of the group, after
rounding
up to a grid, and `θ` is the threshold of `rounding`. Then at most `T(m+1) - T(m)` sequences of the class fail through the group (`T(m+1)`
if the query is `m`), where `T(b)` is what the recursion over `b` tokens gives. -/
theorem Rule.margin_convolution (v m n : Nat) (hm : m < v) (g : Nat → Nat → Nat) (θ : Nat) (fails : (Nat → Nat) → Bool) (t : Nat → Nat)
    (h : ∀ s, Fills v n t s → fails s = true → θ ≤ sumNat n (fun i => g i (s i))) :
    count v n (fun s => both (inClass true m n s) (fails s)) t ≤ tail (Nat.succ m) g n θ ∧
    count v n (fun s => both (inClass false m n s) (fails s)) t ≤ tail (Nat.succ m) g n θ - tail m g n θ :=
  let reach : (Nat → Nat) → Bool := fun s => Nat.ble θ (sumNat n (fun i => g i (s i)))
  have grow : ∀ top, count v n (fun s => both (inClass top m n s) (fails s)) t ≤ count v n (fun s => both (inClass top m n s) (reach s)) t := fun top =>
    count_le (fun s hs k => both_intro (both_left k) (le_ble (h s hs (both_right k))))
  have counted := Rule.margin_convolution.exactly v m n hm reach t
  have r1 := Rule.margin_convolution.recursion (Nat.succ m) g n θ t
  have r0 := Rule.margin_convolution.recursion m g n θ t
  ⟨nat_le_trans (grow true) (replace counted.left (fun x => x ≤ tail (Nat.succ m) g n θ) (replace r1 (fun x => count (Nat.succ m) n reach t ≤ x) (nat_le_refl _))),
   nat_le_trans (grow false) (le_sub_of_add_le (tail m g n θ)
     (replace r0 (fun x => count v n (fun s => both (inClass false m n s) (reach s)) t + x ≤ tail (Nat.succ m) g n θ)
       (replace r1 (fun x => count v n (fun s => both (inClass false m n s) (reach s)) t + count m n reach t ≤ x)
         (replace counted.right (fun x => x ≤ count (Nat.succ m) n reach t) (nat_le_refl _)))))⟩
end
end CompactProofs
