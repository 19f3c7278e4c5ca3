import CompactProofs.Circuits
/-!
# Bounds on row ranges: rules `row_exact`, `row_range_chain`, `row_norm`, `row_bound_min`

The range of row `q` of a matrix is the largest difference of two of its entries. `RowBound v M b` says that `b q` bounds the range of row
`q` over the columns `0, ..., v - 1`.
-/
namespace CompactProofs
noncomputable section
variable {F : Type} [ExpField F]

/-- `b q` bounds the differences of the entries of row `q`: the "max row-diff" of the paper, per row. -/
def RowBound (v : Nat) (M : Nat → Nat → F) (b : Nat → F) : Prop :=
  ∀ q i j, i < v → j < v → M q i - M q j ≤ b q

/-- What the sub-cubic rules use of a circuit `S`: an approximation of it, and for each row a bound of what a difference of two entries can
be off by. -/
def Admissible (v : Nat) (S approx : Nat → Nat → F) (b : Nat → F) : Prop :=
  ∀ q i j, i < v → j < v → (approx q i - approx q j) - b q ≤ S q i - S q j ∧ S q i - S q j ≤ (approx q i - approx q j) + b q

/-- If `S = approx + rest` and `b` bounds the row ranges of the rest (the product of the factors that are left), the approximation is
admissible with error `b`. -/
theorem admissible (v : Nat) (S approx rest : Nat → Nat → F) (b : Nat → F) (hS : ∀ q i, S q i = approx q i + rest q i) (h : RowBound v rest b) : Admissible v S approx b :=
  fun q i j hi hj =>
  have e : S q i - S q j = (approx q i - approx q j) + (rest q i - rest q j) :=
    (sub_congr (hS q i) (hS q j)).trans (ring (approx q i :: approx q j :: rest q i :: rest q j :: []))
  ⟨le_of (sub_nonneg (h q j i hj hi)) ((sub_congr e rfl).trans (ring (approx q i :: approx q j :: rest q i :: rest q j :: b q :: []))),
   le_of (sub_nonneg (h q i j hi hj)) ((sub_congr rfl e).trans (ring (approx q i :: approx q j :: rest q i :: rest q j :: b q :: [])))⟩

/-- **Rule `row_exact`.** With one factor left, the approximation plus that factor leaves nothing out. -/
theorem Rule.row_exact (v : Nat) (S approx factor : Nat → Nat → F) (hS : ∀ q i, S q i = approx q i + factor q i) :
    Admissible v S (fun q i => approx q i + factor q i) (fun _ => 0) :=
  admissible v S _ (fun _ _ => 0) _ (fun q i => (hS q i).trans (add_zero _).symm) (fun _ _ _ _ _ => le_of_eq (ring [] : (0 : F) - 0 = 0))

/-- **The range of a row** (the last level of `row_range_chain`). If every entry of row `q` lies between `lo q` and `hi q`, then `hi q - lo
q` bounds the range. With the exact minimum and maximum this is the exact range. -/
theorem Rule.row_range_chain.range (v : Nat) (M : Nat → Nat → F) (lo hi : Nat → F)
    (h : ∀ q i, i < v → lo q ≤ M q i ∧ M q i ≤ hi q) : RowBound v M (fun q => hi q - lo q) :=
  fun q i j ki kj => le_of (add_nonneg (sub_nonneg (h q i ki).right) (sub_nonneg (h q j kj).left))
    (ring (hi q :: lo q :: M q i :: M q j :: []))

/-- **Rule `row_range_chain`, exactness of the last level.** If the ends are attained, no smaller bound exists. -/
theorem Rule.row_range_chain.range_exact (v : Nat) (M : Nat → Nat → F) (b : Nat → F) (hb : RowBound v M b) (q i j : Nat) (lo hi : F)
    (ki : i < v) (kj : j < v) (hhi : M q i = hi) (hlo : M q j = lo) : hi - lo ≤ b q :=
  le_trans (le_of_eq (sub_congr hhi.symm hlo.symm)) (hb q i j ki kj)

/-- **Rule `row_bound_min`** (the "subproduct" option: every way of splitting a product gives a bound, and per row the smallest may be taken). -/
theorem Rule.row_bound_min (v : Nat) (M : Nat → Nat → F) (b c m : Nat → F) (hb : RowBound v M b) (hc : RowBound v M c)
    (hm : ∀ q, b q ≤ m q ∨ c q ≤ m q) : RowBound v M m :=
  fun q i j hi hj => (hm q).elim (fun h => le_trans (hb q i j hi hj) h) (fun h => le_trans (hc q i j hi hj) h)

/-- `x y ≤ a b` when `|x| ≤ a` and `|y| ≤ b`. -/
theorem mul_le_of_abs {x y a b : F} (h1 : x ≤ a) (h2 : -x ≤ a) (k1 : y ≤ b) (k2 : -y ≤ b) (ha : 0 ≤ a) (hb : 0 ≤ b) : x * y ≤ a * b :=
  (ExpField.le_total 0 x).elim
    (fun hx => le_trans (mul_le_mul_left k1 hx) (mul_le_mul_right h1 hb))
    (fun hx => calc x * y = -x * -y := ring (x :: y :: [])
      _ ≤ -x * b := mul_le_mul_left k2 (neg_nonneg hx)
      _ ≤ a * b := mul_le_mul_right h2 hb)

/-- A row bound over at least one column is nonnegative. -/
theorem RowBound.nonneg {v : Nat} {M : Nat → Nat → F} {b : Nat → F} (h : RowBound (Nat.succ v) M b) (q : Nat) : 0 ≤ b q :=
  calc 0 = M q v - M q v := ring (M q v :: [])
    _ ≤ b q := h q v v (lt_succ_self v) (lt_succ_self v)

/-- One level of the recursion: the range of row `q` of `A B` is at most the range of the summary row `e B` plus `Σ |A q l - e l| * τ l`, where
`τ` bounds the ranges of the rows of `B`. The summary row `e` is any row (an untrusted witness): 0 gives "max row-diff" (the paper's Theorem
21), the mean row of `A` gives
"mean+diff" fused with it (Theorem 24). `a q l` is any upper bound of `|A q l - e l|`. -/
theorem rowBound_step (v d : Nat) (A B : Nat → Nat → F) (e : Nat → F) (s : F) (a : Nat → Nat → F) (τ b : Nat → F)
    (hB : RowBound (Nat.succ v) B τ)
    (he : ∀ i j, i < Nat.succ v → j < Nat.succ v → vecMul d e B i - vecMul d e B j ≤ s)
    (ha : ∀ q l, l < d → A q l - e l ≤ a q l ∧ e l - A q l ≤ a q l)
    (hb : ∀ q, s + sum d (fun l => a q l * τ l) ≤ b q) : RowBound (Nat.succ v) (matMul d A B) b :=
  fun q i j hi hj =>
  have split : matMul d A B q i - matMul d A B q j
      = (vecMul d e B i - vecMul d e B j) + sum d (fun l => (A q l - e l) * (B l i - B l j)) :=
    calc matMul d A B q i - matMul d A B q j
        = sum d (fun l => A q l * B l i - A q l * B l j) := (sum_sub d _ _).symm
      _ = sum d (fun l => (e l * B l i - e l * B l j) + (A q l - e l) * (B l i - B l j)) :=
          sum_congr (fun l _ => ring (A q l :: e l :: B l i :: B l j :: []))
      _ = sum d (fun l => e l * B l i - e l * B l j) + sum d (fun l => (A q l - e l) * (B l i - B l j)) := sum_add d _ _
      _ = _ := add_congr (sum_sub d _ _) rfl
  have terms : sum d (fun l => (A q l - e l) * (B l i - B l j)) ≤ sum d (fun l => a q l * τ l) :=
    sum_le (fun l hl =>
      have h1 := (ha q l hl).left
      have h2 := (ha q l hl).right
      have ha0 : 0 ≤ a q l := (ExpField.le_total 0 (A q l - e l)).elim (fun h => le_trans h h1)
        (fun h => le_trans (calc (0 : F) ≤ -(A q l - e l) := neg_nonneg h
          _ = e l - A q l := ring (e l :: A q l :: [])) h2)
      mul_le_of_abs h1 (le_trans (le_of_eq (ring (e l :: A q l :: []))) h2)
        (hB l i j hi hj) (le_trans (le_of_eq (ring (B l i :: B l j :: []))) (hB l j i hj hi)) ha0 (hB.nonneg l))
  calc matMul d A B q i - matMul d A B q j
      = (vecMul d e B i - vecMul d e B j) + sum d (fun l => (A q l - e l) * (B l i - B l j)) := split
    _ ≤ s + sum d (fun l => a q l * τ l) := add_le_add (he i j hi hj) terms
    _ ≤ b q := hb q

/-- What the rule `row_range_chain` computes for the factors `A, B₁, B₂, ...`: at the last factor the range of its rows; at every earlier factor
the bound of `rowBound_step`, with a summary row of its own (which may be zero) and with outward rounding allowed. -/
inductive ChainBound (v : Nat) : (Nat → Nat → F) → List (Nat × (Nat → Nat → F)) → (Nat → F) → Prop where
  | last (A : Nat → Nat → F) (b : Nat → F) (h : RowBound (Nat.succ v) A b) : ChainBound v A [] b
  | step (A : Nat → Nat → F) (d : Nat) (B : Nat → Nat → F) (rest : List (Nat × (Nat → Nat → F))) (e : Nat → F) (s : F)
      (a : Nat → Nat → F) (τ b : Nat → F)
      (hrest : ChainBound v B rest τ)
      (he : ∀ i j, i < Nat.succ v → j < Nat.succ v → rowChain e (⟨d, B⟩ :: rest) i - rowChain e (⟨d, B⟩ :: rest) j ≤ s)
      (ha : ∀ q l, l < d → A q l - e l ≤ a q l ∧ e l - A q l ≤ a q l)
      (hb : ∀ q, s + sum d (fun l => a q l * τ l) ≤ b q) : ChainBound v A (⟨d, B⟩ :: rest) b

/-- **Rule `row_range_chain`** (the paper's Theorems 21, 23, 24 and 26 in one: max row-diff, its recursive form, and both with summary
rows). What the
recursion computes bounds the range of every row of the product of the factors. -/
theorem Rule.row_range_chain (v : Nat) (A : Nat → Nat → F) (l : List (Nat × (Nat → Nat → F))) (b : Nat → F)
    (h : ChainBound v A l b) : RowBound (Nat.succ v) (chain A l) b :=
  ChainBound.rec (v := v) (motive := fun A l b _ => RowBound (Nat.succ v) (chain A l) b)
    (fun _ _ h => h)
    (fun A d B rest e s a τ b _ he ha hb ih => rowBound_step v d A (chain B rest) e s a τ b ih he ha hb) h

/-- The summary row 0 costs nothing: `row_range_chain` without a summary row. -/
theorem Rule.row_range_chain.no_summary (d : Nat) (B : Nat → Nat → F) (rest : List (Nat × (Nat → Nat → F))) (i j : Nat) :
    rowChain (fun _ => (0 : F)) (⟨d, B⟩ :: rest) i - rowChain (fun _ => (0 : F)) (⟨d, B⟩ :: rest) j ≤ 0 :=
  have z : ∀ i, sum d (fun l => 0 * chain B rest l i) = 0 := fun i =>
    (sum_congr (fun l _ => zero_mul (chain B rest l i))).trans (sum_zero d)
  le_of_eq (calc sum d (fun l => 0 * chain B rest l i) - sum d (fun l => 0 * chain B rest l j) = 0 - 0 := sub_congr (z i) (z j)
    _ = (0 : F) := ring [])

/-- **Rule `row_norm`** (replaces and sharpens the paper's Equation 11, `√2 σ₁`): if `b q ≥ 0` and `(b q)² ≥ 2 Σ (M q l - c q)²` for any
shift `c q`, then
`b q` bounds the range of row `q`. Square roots are not needed: the squares are compared. -/
theorem Rule.row_norm (v : Nat) (M : Nat → Nat → F) (c b : Nat → F) (hb : ∀ q, 0 ≤ b q)
    (h : ∀ q, (1 + 1) * sum v (fun l => (M q l - c q) * (M q l - c q)) ≤ b q * b q) : RowBound v M b :=
  fun q i j hi hj =>
  let f := fun l => (M q l - c q) * (M q l - c q)
  (nat_eq_or_ne i j).elim
    (fun e => e.rec (motive := fun j _ => M q i - M q j ≤ b q) (le_trans (le_of_eq (ring (M q i :: []))) (hb q)))
    (fun ne =>
      have two : f i + f j ≤ sum v f := two_terms_le_sum (f := f) (fun l _ => square_nonneg (M q l - c q)) i j hi hj ne
      have square : (M q i - M q j) * (M q i - M q j) ≤ (1 + 1) * (f i + f j) :=
        le_of (square_nonneg ((M q i - c q) + (M q j - c q)))
          (show (1 + 1) * ((M q i - c q) * (M q i - c q) + (M q j - c q) * (M q j - c q)) - (M q i - M q j) * (M q i - M q j)
              = ((M q i - c q) + (M q j - c q)) * ((M q i - c q) + (M q j - c q)) from
            ring (M q i :: M q j :: c q :: []))
      le_of_square_le (hb q)
        (calc (M q i - M q j) * (M q i - M q j) ≤ (1 + 1) * (f i + f j) := square
          _ ≤ (1 + 1) * sum v f := mul_le_mul_left two (le_of_lt two_pos)
          _ ≤ b q * b q := h q))

/-- **Rule `row_norm`, as computed:** for two factors `X`, `B` with the mean (or any number) `μ k` taken off row `k` of `B`, the sum of
squares is the quadratic form of the Gram matrix of the centred `B`. -/
theorem Rule.row_norm.gram (v d : Nat) (X B : Nat → Nat → F) (μ : Nat → F) (q : Nat) :
    sum v (fun l => (matMul d X B q l - sum d (fun k => X q k * μ k)) * (matMul d X B q l - sum d (fun k => X q k * μ k)))
      = sum d (fun k => X q k * sum d (fun j => X q j * sum v (fun l => (B k l - μ k) * (B j l - μ j)))) :=
  have row : ∀ l, matMul d X B q l - sum d (fun k => X q k * μ k) = sum d (fun k => X q k * (B k l - μ k)) := fun l =>
    (sum_sub d _ _).symm.trans (sum_congr (fun k _ => ring (X q k :: B k l :: μ k :: [])))
  calc sum v (fun l => (matMul d X B q l - sum d (fun k => X q k * μ k)) * (matMul d X B q l - sum d (fun k => X q k * μ k)))
      = sum v (fun l => sum d (fun k => (X q k * (B k l - μ k)) * sum d (fun j => X q j * (B j l - μ j)))) :=
        sum_congr (fun l _ => (mul_congr (row l) (row l)).trans (sum_mul_right d _ _).symm)
    _ = sum d (fun k => sum v (fun l => (X q k * (B k l - μ k)) * sum d (fun j => X q j * (B j l - μ j)))) := sum_swap v d _
    _ = sum d (fun k => X q k * sum d (fun j => X q j * sum v (fun l => (B k l - μ k) * (B j l - μ j)))) := sum_congr (fun k _ =>
        calc sum v (fun l => (X q k * (B k l - μ k)) * sum d (fun j => X q j * (B j l - μ j)))
            = sum v (fun l => X q k * sum d (fun j => X q j * ((B k l - μ k) * (B j l - μ j)))) := sum_congr (fun l _ =>
              (mul_assoc _ _ _).trans (mul_congr rfl ((sum_mul_left d _ _).symm.trans (sum_congr (fun j _ => mul_left_comm _ _ _)))))
          _ = X q k * sum v (fun l => sum d (fun j => X q j * ((B k l - μ k) * (B j l - μ j)))) := sum_mul_left v _ _
          _ = X q k * sum d (fun j => sum v (fun l => X q j * ((B k l - μ k) * (B j l - μ j)))) := mul_congr rfl (sum_swap v d _)
          _ = X q k * sum d (fun j => X q j * sum v (fun l => (B k l - μ k) * (B j l - μ j))) := mul_congr rfl (sum_congr (fun j _ => sum_mul_left v _ _)))
end
end CompactProofs
