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

/-- What the checker verifies of `U` says that `1 + S ≤ exp U`, so that `U` is at least `log (1 + S)`. -/
theorem Rule.log_loss.logarithm_above (U r c S : F) (hS : S ≤ c * exp (-r)) (h : exp (-U) + c * exp (-U + -r) ≤ 1) : 1 + S ≤ exp U :=
  have e : exp U * (exp (-U) + c * exp (-U + -r)) = 1 + c * exp (-r) :=
    calc exp U * (exp (-U) + c * exp (-U + -r)) = exp U * (exp (-U) + c * (exp (-U) * exp (-r))) :=
          mul_congr rfl (add_congr rfl (mul_congr rfl (exp_add (-U) (-r))))
      _ = (exp U * exp (-U)) * (1 + c * exp (-r)) := ring (exp U :: exp (-U) :: c :: exp (-r) :: [])
      _ = 1 * (1 + c * exp (-r)) := mul_congr (exp_mul_exp_neg U) rfl
      _ = 1 + c * exp (-r) := one_mul _
  le_trans (add_le_add_left hS 1) (le_trans (le_of_eq e.symm)
    (le_trans (mul_le_mul_left h (exp_nonneg U)) (le_of_eq (mul_one _))))
end
end CompactProofs
