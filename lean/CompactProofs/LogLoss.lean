import CompactProofs.Accuracy
/-!
# The mean log-loss from masses above thresholds

`K` inputs with masses `w k` and losses `loss k`; `b i k` says that the margin of input `k` is above threshold `i`.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- 1 for `true`, 0 for `false`. -/
def ind : Bool → F
  | true => 1
  | false => 0

/-- `upper 0` less the drops at the thresholds, each times its coefficient. -/
def drops (upper c : Nat → F) (n : Nat) : F := sum n (fun i => c i * (upper i - upper (Nat.succ i)))

theorem drops_all (upper : Nat → F) (b : Nat → Bool) : (n : Nat) → (∀ i, i < n → b (Nat.succ i) = true) →
    upper 0 - drops upper (fun i => ind (b (Nat.succ i))) n = upper n
  | .zero, _ => show upper 0 - 0 = upper 0 from ring (upper 0 :: [])
  | .succ n, h =>
    have e : upper 0 - drops upper (fun i => ind (b (Nat.succ i))) n = upper n := drops_all upper b n (fun i hi => h i (lt_succ_of_lt hi))
    have k : ind (F := F) (b (Nat.succ n)) = 1 := congrArg ind (h n (lt_succ_self n))
    calc upper 0 - (drops upper (fun i => ind (b (Nat.succ i))) n + ind (b (Nat.succ n)) * (upper n - upper (Nat.succ n)))
        = (upper 0 - drops upper (fun i => ind (b (Nat.succ i))) n) - ind (b (Nat.succ n)) * (upper n - upper (Nat.succ n)) :=
          ring (upper 0 :: drops upper (fun i => ind (b (Nat.succ i))) n :: ind (b (Nat.succ n)) :: upper n :: upper (Nat.succ n) :: [])
      _ = upper n - 1 * (upper n - upper (Nat.succ n)) := sub_congr e (mul_congr k rfl)
      _ = upper (Nat.succ n) := ring (upper n :: upper (Nat.succ n) :: [])

/-- One input: its loss is at most `upper 0` less the drops at the thresholds that its margin exceeds. -/
theorem loss_le (upper : Nat → F) (b : Nat → Bool) (x : F) (n : Nat) (hb : ∀ i, b (Nat.succ i) = true → b i = true) (h0 : b 0 = true)
    (h : ∀ i, b i = true → x ≤ upper i) : x ≤ upper 0 - drops upper (fun i => ind (b (Nat.succ i))) n :=
  have all : ∀ m, b m = true → ∀ i, i < m → b (Nat.succ i) = true := fun m => Nat.rec (motive := fun m => b m = true → ∀ i, i < m → b (Nat.succ i) = true)
    (fun _ _ hi => (not_lt_zero hi).elim)
    (fun m ih k i hi => match lt_or_eq_of_lt_succ hi with
      | .inr e => Eq.subst (motive := fun j => b (Nat.succ j) = true) e.symm k
      | .inl hi => ih (hb m k) i hi) m
  Nat.rec (motive := fun n => x ≤ upper 0 - drops upper (fun i => ind (b (Nat.succ i))) n)
    (le_trans (h 0 h0) (le_of_eq (show upper 0 = upper 0 - 0 from ring (upper 0 :: []))))
    (fun n ih => match bool_cases (b (Nat.succ n)) with
      | .inl e => le_trans (h (Nat.succ n) e) (le_of_eq (drops_all upper b (Nat.succ n) (all (Nat.succ n) e)).symm)
      | .inr e =>
        have k : ind (F := F) (b (Nat.succ n)) = 0 := congrArg ind e
        le_trans ih (le_of_eq
          (calc upper 0 - drops upper (fun i => ind (b (Nat.succ i))) n
              = upper 0 - (drops upper (fun i => ind (b (Nat.succ i))) n + 0 * (upper n - upper (Nat.succ n))) :=
                ring (upper 0 :: drops upper (fun i => ind (b (Nat.succ i))) n :: upper n :: upper (Nat.succ n) :: [])
            _ = upper 0 - (drops upper (fun i => ind (b (Nat.succ i))) n + ind (b (Nat.succ n)) * (upper n - upper (Nat.succ n))) :=
                sub_congr rfl (add_congr rfl (mul_congr k.symm rfl))))) n

/-- **Rule `log_loss`, the upper bound**, by summation by parts over the thresholds. -/
theorem Rule.log_loss.upper (K n : Nat) (w x upper right : Nat → F) (b : Nat → Nat → Bool) (hw : ∀ k, k < K → 0 ≤ w k)
    (hu : ∀ i, upper (Nat.succ i) ≤ upper i) (hb : ∀ k i, b k (Nat.succ i) = true → b k i = true) (h0 : ∀ k, b k 0 = true)
    (h : ∀ k i, b k i = true → x k ≤ upper i)
    (hr : ∀ i, i < n → right i ≤ sum K (fun k => w k * ind (b k (Nat.succ i)))) :
    sum K (fun k => w k * x k) ≤ sum K w * upper 0 - sum n (fun i => right i * (upper i - upper (Nat.succ i))) :=
  have parts : sum K (fun k => w k * drops upper (fun i => ind (b k (Nat.succ i))) n) =
      sum n (fun i => sum K (fun k => w k * ind (b k (Nat.succ i))) * (upper i - upper (Nat.succ i))) :=
    ((sum_congr (fun k _ => (sum_mul_left n (w k) (fun i => ind (b k (Nat.succ i)) * (upper i - upper (Nat.succ i)))).symm)).trans
      (sum_swap K n _)).trans (sum_congr (fun i _ =>
        (sum_congr (fun k _ => (mul_assoc (w k) (ind (b k (Nat.succ i))) (upper i - upper (Nat.succ i))).symm)).trans
          (sum_mul_right K (upper i - upper (Nat.succ i)) (fun k => w k * ind (b k (Nat.succ i))))))
  have most : sum n (fun i => right i * (upper i - upper (Nat.succ i))) ≤
      sum K (fun k => w k * drops upper (fun i => ind (b k (Nat.succ i))) n) :=
    le_trans (sum_le (fun i hi => mul_le_mul_right (hr i hi) (sub_nonneg (hu i)))) (le_of_eq parts.symm)
  le_trans (sum_le (fun k hk => mul_le_mul_left (loss_le upper (b k) (x k) n (hb k) (h0 k) (h k)) (hw k hk)))
    (le_trans (le_of_eq ((sum_congr (fun k _ =>
        show w k * (upper 0 - drops upper (fun i => ind (b k (Nat.succ i))) n) = w k * upper 0 - w k * drops upper (fun i => ind (b k (Nat.succ i))) n
          from ring (w k :: upper 0 :: drops upper (fun i => ind (b k (Nat.succ i))) n :: []))).trans
        ((sum_sub K _ _).trans (sub_congr (sum_mul_right K (upper 0) w) rfl))))
      (add_le_add_left (neg_le_neg most) _))

/-- What the checker verifies of `U` says that `1 + c exp (-r) ≤ exp U`, so that `U` is at least `log (1 + c exp (-r))`. -/
theorem Rule.log_loss.logarithm_above (U r c : F) (h : exp (-U) + c * exp (-U + -r) ≤ 1) : 1 + c * exp (-r) ≤ exp U :=
  have e : exp U * (exp (-U) + c * exp (-U + -r)) = 1 + c * exp (-r) :=
    calc exp U * (exp (-U) + c * exp (-U + -r)) = exp U * (exp (-U) + c * (exp (-U) * exp (-r))) :=
          mul_congr rfl (add_congr rfl (mul_congr rfl (exp_add (-U) (-r))))
      _ = (exp U * exp (-U)) * (1 + c * exp (-r)) := ring (exp U :: exp (-U) :: c :: exp (-r) :: [])
      _ = 1 * (1 + c * exp (-r)) := mul_congr (exp_mul_exp_neg U) rfl
      _ = 1 + c * exp (-r) := one_mul _
  le_trans (le_of_eq e.symm) (le_trans (mul_le_mul_left h (exp_nonneg U)) (le_of_eq (mul_one _)))

/-! ## The lower bound -/

/-- One input: if its margin is above no threshold below `n`, its falls are 0 (`c i`: not above threshold `i`). -/
theorem falls_none (lower : Nat → F) (c : Nat → Bool) (hc : ∀ i, c i = true → c (Nat.succ i) = true) : (n : Nat) → c n = false →
    sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) = 0
  | .zero, _ => rfl
  | .succ n, h => match bool_cases (c n) with
    | .inl e => absurd ((hc n e).symm.trans h) true_ne_false
    | .inr e => (add_congr (falls_none lower c hc n e) ((mul_congr (congrArg ind e) rfl).trans (zero_mul _))).trans (add_zero 0)

theorem falls_some (lower : Nat → F) (c : Nat → Bool) (x : F) (hc : ∀ i, c i = true → c (Nat.succ i) = true)
    (h : ∀ i, c i = true → lower i ≤ x) : (n : Nat) → c n = true →
    sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) + lower n ≤ x
  | .zero, e => le_trans (le_of_eq (zero_add (lower 0))) (h 0 e)
  | .succ n, e => match bool_cases (c n) with
    | .inl k => le_trans (le_of_eq
        (calc (sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) + ind (c n) * (lower n - lower (Nat.succ n))) + lower (Nat.succ n)
            = (sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) + 1 * (lower n - lower (Nat.succ n))) + lower (Nat.succ n) :=
              add_congr (add_congr rfl (mul_congr (congrArg ind k) rfl)) rfl
          _ = sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) + lower n :=
              ring (sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) :: lower n :: lower (Nat.succ n) :: [])))
        (falls_some lower c x hc h n k)
    | .inr k => le_trans (le_of_eq
        (calc (sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) + ind (c n) * (lower n - lower (Nat.succ n))) + lower (Nat.succ n)
            = (0 + 0 * (lower n - lower (Nat.succ n))) + lower (Nat.succ n) :=
              add_congr (add_congr (falls_none lower c hc n k) (mul_congr (congrArg ind k) rfl)) rfl
          _ = lower (Nat.succ n) := ring (lower n :: lower (Nat.succ n) :: [])))
        (h (Nat.succ n) e)

/-- One input: its loss is at least the falls at the thresholds that its margin does not exceed. -/
theorem le_loss (lower : Nat → F) (c : Nat → Bool) (x : F) (n : Nat) (hc : ∀ i, c i = true → c (Nat.succ i) = true)
    (h : ∀ i, c i = true → lower i ≤ x) (hx : 0 ≤ x) (hl : ∀ i, 0 ≤ lower i) :
    sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) ≤ x :=
  match bool_cases (c n) with
  | .inl e => le_trans (le_of (hl n) (ring (sum n (fun i => ind (c i) * (lower i - lower (Nat.succ i))) :: lower n :: [])))
      (falls_some lower c x hc h n e)
  | .inr e => le_trans (le_of_eq (falls_none lower c hc n e)) hx

/-- **Rule `log_loss`, the lower bound**: `c k i` says that the margin of input `k` is not above threshold `i`, and `wrong i` is at most
the mass of these inputs. The numbers beyond the last threshold are 0. -/
theorem Rule.log_loss.lower (K n : Nat) (w x lower wrong : Nat → F) (c : Nat → Nat → Bool) (hw : ∀ k, k < K → 0 ≤ w k)
    (hl : ∀ i, lower (Nat.succ i) ≤ lower i) (h0 : ∀ i, 0 ≤ lower i) (hc : ∀ k i, c k i = true → c k (Nat.succ i) = true)
    (hx : ∀ k, 0 ≤ x k) (h : ∀ k i, c k i = true → lower i ≤ x k)
    (hr : ∀ i, i < n → wrong i ≤ sum K (fun k => w k * ind (c k i))) :
    sum n (fun i => wrong i * (lower i - lower (Nat.succ i))) ≤ sum K (fun k => w k * x k) :=
  have parts : sum K (fun k => w k * sum n (fun i => ind (c k i) * (lower i - lower (Nat.succ i)))) =
      sum n (fun i => sum K (fun k => w k * ind (c k i)) * (lower i - lower (Nat.succ i))) :=
    ((sum_congr (fun k _ => (sum_mul_left n (w k) (fun i => ind (c k i) * (lower i - lower (Nat.succ i)))).symm)).trans
      (sum_swap K n _)).trans (sum_congr (fun i _ =>
        (sum_congr (fun k _ => (mul_assoc (w k) (ind (c k i)) (lower i - lower (Nat.succ i))).symm)).trans
          (sum_mul_right K (lower i - lower (Nat.succ i)) (fun k => w k * ind (c k i)))))
  le_trans (sum_le (fun i hi => mul_le_mul_right (hr i hi) (sub_nonneg (hl i))))
    (le_trans (le_of_eq parts.symm)
      (sum_le (fun k hk => mul_le_mul_left (le_loss lower (c k) (x k) n (hc k) (h k) (hx k) h0) (hw k hk))))

/-! ## Losses and margins -/

/-- The exponential reflects the order. -/
theorem le_of_exp_le {a b : F} (h : exp a ≤ exp b) : a ≤ b := match lt_or_le b a with
  | .inr k => k
  | .inl k =>
    have more : exp b < exp (a - b) * exp b := fun l =>
      have one : exp (a - b) ≤ 1 := le_of_mul_le_mul (exp_pos b)
        (le_trans (le_of_eq (mul_comm (exp b) (exp (a - b)))) (le_trans l (le_of_eq (mul_one (exp b)).symm)))
      sub_pos k (le_of (sub_nonneg (le_trans (one_add_le_exp (a - b)) one)) (ring (a :: b :: [])))
    have e : exp (a - b) * exp b = exp a := (exp_add (a - b) b).symm.trans (congrArg exp (ring (a :: b :: [])))
    absurd h (Eq.subst (motive := fun z => exp b < z) e more)

/-- `x` is the log-loss of the logits `y 0, ..., y (O - 1)` where `m` is right: `-log softmax(y) m`. -/
def Loss (O : Nat) (y : Nat → F) (m : Nat) (x : F) : Prop := exp x * exp (y m) = sum O (fun o => exp (y o))

theorem Loss.total {O : Nat} {y : Nat → F} {m : Nat} {x : F} (h : Loss O y m x) : exp x = sum O (fun o => exp (y o - y m)) :=
  have e : exp (y m) * exp (-y m) = 1 := exp_mul_exp_neg (y m)
  calc exp x = exp x * 1 := (mul_one _).symm
    _ = exp x * (exp (y m) * exp (-y m)) := mul_congr rfl e.symm
    _ = (exp x * exp (y m)) * exp (-y m) := (mul_assoc _ _ _).symm
    _ = sum O (fun o => exp (y o)) * exp (-y m) := mul_congr h rfl
    _ = sum O (fun o => exp (y o) * exp (-y m)) := (sum_mul_right O _ _).symm
    _ = sum O (fun o => exp (y o - y m)) := sum_congr (fun o _ => (exp_add (y o) (-y m)).symm)

/-- All other outputs are less than the right one by more than `r`. -/
def Above (O : Nat) (y : Nat → F) (m : Nat) (r : F) : Prop := ∀ o, o < O → o ≠ m → (y o - y m) + r < 0

theorem above_or (O : Nat) (y : Nat → F) (m : Nat) (r : F) :
    Above O y m r ∨ Exists fun o => o < O ∧ o ≠ m ∧ 0 ≤ (y o - y m) + r :=
  Nat.rec (motive := fun O => Above O y m r ∨ Exists fun o => o < O ∧ o ≠ m ∧ 0 ≤ (y o - y m) + r)
    (.inl (fun _ ho => (not_lt_zero ho).elim))
    (fun O ih => match ih with
      | .inr ⟨o, ho, hne, k⟩ => .inr ⟨o, lt_succ_of_lt ho, hne, k⟩
      | .inl all => match nat_eq_or_ne O m with
        | .inl e => .inl (fun o ho hne => match lt_or_eq_of_lt_succ ho with
          | .inl l => all o l hne
          | .inr k => absurd (k.trans e) hne)
        | .inr ne => match lt_or_le ((y O - y m) + r) 0 with
          | .inr k => .inr ⟨O, lt_succ_self O, ne, k⟩
          | .inl k => .inl (fun o ho hne => match lt_or_eq_of_lt_succ ho with
            | .inl l => all o l hne
            | .inr e => Eq.subst (motive := fun z => (y z - y m) + r < 0) e.symm k)) O

theorem sum_at (m : Nat) : (O : Nat) → m < O → sum O (fun o => ind (F := F) (Nat.beq o m)) = 1
  | .zero, h => (not_lt_zero h).elim
  | .succ O, h => match nat_eq_or_ne O m, lt_or_eq_of_lt_succ h with
    | .inl e, _ =>
      have none : sum O (fun o => ind (F := F) (Nat.beq o m)) = 0 :=
        (sum_congr (fun o ho => congrArg ind (beq_false (fun k => nat_lt_irrefl O (Eq.subst (motive := fun z => z < O) (k.trans e.symm) ho))))).trans (sum_zero O)
      (add_congr none (congrArg ind (beq_of_eq e))).trans (zero_add 1)
    | .inr ne, .inl l => (add_congr (sum_at m O l) (congrArg ind (beq_false ne))).trans (add_zero 1)
    | .inr ne, .inr e => absurd e.symm ne

/-- A margin above `r` bounds the loss from above: `exp x ≤ 1 + (O - 1) exp (-r)`, for `O` outputs. -/
theorem Loss.above {c : Nat} {y : Nat → F} {m : Nat} {x r : F} (hx : Loss (Nat.succ c) y m x) (hm : m < Nat.succ c) (h : Above (Nat.succ c) y m r) :
    exp x ≤ 1 + cast c * exp (-r) :=
  have each : ∀ o, o < Nat.succ c → exp (y o - y m) ≤ exp (-r) + ind (Nat.beq o m) * (1 - exp (-r)) := fun o ho =>
    match nat_eq_or_ne o m with
    | .inl e => le_of_eq
        (calc exp (y o - y m) = exp (y m - y m) := congrArg (fun z => exp (y z - y m)) e
          _ = exp 0 := congrArg exp (ring (y m :: []))
          _ = 1 := exp_zero
          _ = exp (-r) + 1 * (1 - exp (-r)) := ring (exp (-r) :: [])
          _ = exp (-r) + ind (Nat.beq o m) * (1 - exp (-r)) := add_congr rfl (mul_congr (congrArg ind (beq_of_eq e)).symm rfl))
    | .inr ne => le_trans (exp_le_exp (le_of (neg_nonneg (le_of_lt (h o ho ne))) (ring (y o :: y m :: r :: []))))
        (le_of_eq (calc exp (-r) = exp (-r) + 0 * (1 - exp (-r)) := ring (exp (-r) :: [])
          _ = exp (-r) + ind (Nat.beq o m) * (1 - exp (-r)) := add_congr rfl (mul_congr (congrArg ind (beq_false ne)).symm rfl)))
  le_trans (le_of_eq hx.total) (le_trans (sum_le each) (le_of_eq
    (calc sum (Nat.succ c) (fun o => exp (-r) + ind (Nat.beq o m) * (1 - exp (-r)))
        = sum (Nat.succ c) (fun _ => exp (-r)) + sum (Nat.succ c) (fun o => ind (Nat.beq o m) * (1 - exp (-r))) := sum_add (Nat.succ c) _ _
      _ = exp (-r) * cast (Nat.succ c) + sum (Nat.succ c) (fun o => ind (Nat.beq o m)) * (1 - exp (-r)) :=
          add_congr (sum_const (Nat.succ c) _) (sum_mul_right (Nat.succ c) _ _)
      _ = exp (-r) * (cast c + 1) + 1 * (1 - exp (-r)) := add_congr rfl (mul_congr (sum_at m (Nat.succ c) hm) rfl)
      _ = 1 + cast c * exp (-r) := ring (cast c :: exp (-r) :: []))))

/-- A margin not above `r` bounds the loss from below: `1 + exp (-r) ≤ exp x`. -/
theorem Loss.below {O : Nat} {y : Nat → F} {m : Nat} {x r : F} (hx : Loss O y m x) (hm : m < O) (h : Above O y m r → False) :
    1 + exp (-r) ≤ exp x := match above_or O y m r with
  | .inl k => (h k).elim
  | .inr ⟨o, ho, ne, k⟩ =>
    have two : exp (y m - y m) + exp (y o - y m) ≤ sum O (fun o => exp (y o - y m)) :=
      two_terms_le_sum (fun o _ => exp_nonneg (y o - y m)) m o hm ho (fun e => ne e.symm)
    have one : 1 = exp (y m - y m) := exp_zero.symm.trans (congrArg exp (ring (y m :: [])))
    le_trans (add_le_add (le_of_eq one) (exp_le_exp (le_of k (ring (y o :: y m :: r :: []))))) (le_trans two (le_of_eq hx.total.symm))

theorem Loss.nonneg {O : Nat} {y : Nat → F} {m : Nat} {x : F} (hx : Loss O y m x) (hm : m < O) : 0 ≤ x :=
  le_of_exp_le (le_trans (le_of_eq (congrArg exp (show (0 : F) = y m - y m from ring (y m :: []))))
    (le_trans (term_le_sum (f := fun o => exp (y o - y m)) (fun o _ => exp_nonneg (y o - y m)) m hm) (le_of_eq hx.total.symm)))

/-- What the checker verifies of `L` says that `exp L ≤ 1 + exp (-r)`, so that `L` is at most `log (1 + exp (-r))`. -/
theorem Rule.log_loss.logarithm_below (L r : F) (h : L + r < 0 ∨ 1 ≤ exp (-L) + exp (-L + -r)) : exp L ≤ 1 + exp (-r) := match h with
  | .inl k => le_trans (exp_le_exp (le_of (neg_nonneg (le_of_lt k)) (show -r - L = -(L + r) from ring (L :: r :: [])))) (le_of zero_le_one (ring (exp (-r) :: [])))
  | .inr k =>
    have e : exp L * (exp (-L) + exp (-L + -r)) = 1 + exp (-r) :=
      calc exp L * (exp (-L) + exp (-L + -r)) = exp L * (exp (-L) + exp (-L) * exp (-r)) := mul_congr rfl (add_congr rfl (exp_add (-L) (-r)))
        _ = (exp L * exp (-L)) * (1 + exp (-r)) := ring (exp L :: exp (-L) :: exp (-r) :: [])
        _ = 1 * (1 + exp (-r)) := mul_congr (exp_mul_exp_neg L) rfl
        _ = 1 + exp (-r) := one_mul _
    le_trans (le_of_eq (mul_one (exp L)).symm) (le_trans (mul_le_mul_left k (exp_nonneg L)) (le_of_eq e))

/-- **Rule `log_loss`.** `K` inputs with masses `w k`, logits `y k`, right answers `m k` and losses `x k`; `c + 1` outputs; thresholds `r i`
in ascending order, all margins above the first; `b k i` says that the margin of input `k` is above threshold `i`, `right i` and
`wrong i` are counts for it. (Sequences that end are to be continued: `r`, `upper` by their last number, `lower` by 0.) -/
theorem Rule.log_loss (K n N c : Nat) (w x : Nat → F) (y : Nat → Nat → F) (m : Nat → Nat) (r upper lower right wrong : Nat → F)
    (b : Nat → Nat → Bool) (hw : ∀ k, k < K → 0 ≤ w k) (hm : ∀ k, m k < Nat.succ c) (hx : ∀ k, Loss (Nat.succ c) (y k) (m k) (x k))
    (hb : ∀ k i, b k i = true ↔ Above (Nat.succ c) (y k) (m k) (r i)) (ascending : ∀ i, r i ≤ r (Nat.succ i)) (first : ∀ k, b k 0 = true)
    (hu : ∀ i, upper (Nat.succ i) ≤ upper i) (hU : ∀ i, exp (-upper i) + cast c * exp (-upper i + -r i) ≤ 1)
    (hl : ∀ i, lower (Nat.succ i) ≤ lower i) (hl0 : ∀ i, 0 ≤ lower i)
    (hL : ∀ i, lower i = 0 ∨ lower i + r i < 0 ∨ 1 ≤ exp (-lower i) + exp (-lower i + -r i))
    (hright : ∀ i, i < n → right i ≤ sum K (fun k => w k * ind (b k (Nat.succ i))))
    (hwrong : ∀ i, i < N → wrong i ≤ sum K (fun k => w k * ind (not (b k i)))) :
    sum K (fun k => w k * x k) ≤ sum K w * upper 0 - sum n (fun i => right i * (upper i - upper (Nat.succ i))) ∧
      sum N (fun i => wrong i * (lower i - lower (Nat.succ i))) ≤ sum K (fun k => w k * x k) :=
  have down : ∀ k i, b k (Nat.succ i) = true → b k i = true := fun k i h => (hb k i).mpr (fun o ho ne =>
    lt_of_le_of_lt (add_le_add_left (ascending i) _) ((hb k (Nat.succ i)).mp h o ho ne))
  have up : ∀ k i, not (b k i) = true → not (b k (Nat.succ i)) = true := fun k i h => match bool_cases (b k (Nat.succ i)) with
    | .inl e => (true_ne_false (h.symm.trans (congrArg not (down k i e)))).elim
    | .inr e => congrArg not e
  have notAbove : ∀ k i, not (b k i) = true → Above (Nat.succ c) (y k) (m k) (r i) → False := fun k i h a =>
    true_ne_false (h.symm.trans (congrArg not ((hb k i).mpr a)))
  have least : ∀ k i, not (b k i) = true → lower i ≤ x k := fun k i h => match hL i with
    | .inl e => le_trans (le_of_eq e) ((hx k).nonneg (hm k))
    | .inr e => le_of_exp_le (le_trans (Rule.log_loss.logarithm_below (lower i) (r i) e) ((hx k).below (hm k) (notAbove k i h)))
  ⟨Rule.log_loss.upper K n w x upper right b hw hu down first
      (fun k i h => le_of_exp_le (le_trans ((hx k).above (hm k) ((hb k i).mp h))
        (Rule.log_loss.logarithm_above (upper i) (r i) (cast c) (hU i)))) hright,
    Rule.log_loss.lower K N w x lower wrong (fun k i => not (b k i)) hw hl hl0 up (fun k => (hx k).nonneg (hm k)) least hwrong⟩
end
end CompactProofs
