import CompactProofs.Soundness
/-!
# A checker inside the kernel

The functions below decide, on natural numbers alone, whether a model with integer weights (and `d_head = 1`, so that no square root is
needed) is right or wrong on a sequence; they are proved correct for every ordered field with an exponential. `Example.lean` evaluates them
in
Lean's kernel for one small model: no Python is involved in that theorem.

An integer is a pair of natural numbers, standing for their difference. The exponentials come with untrusted enclosures, which are checked
by multiplication; the kernel never divides.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-! ## Integers -/

/-- The integer `pos - neg`. -/
structure Num where
  pos : Nat
  neg : Nat
def Num.val (a : Num) : F := cast a.pos - cast a.neg
def Num.add (a b : Num) : Num := ⟨a.pos + b.pos, a.neg + b.neg⟩
def Num.sub (a b : Num) : Num := ⟨a.pos + b.neg, a.neg + b.pos⟩
def Num.mul (a b : Num) : Num := ⟨a.pos * b.pos + a.neg * b.neg, a.pos * b.neg + a.neg * b.pos⟩
def Num.sum : Nat → (Nat → Num) → Num
  | .zero, _ => ⟨0, 0⟩
  | .succ n, f => (Num.sum n f).add (f n)
def Num.vecMul (d : Nat) (x : Nat → Num) (W : Nat → Nat → Num) (j : Nat) : Num := Num.sum d (fun l => (x l).mul (W l j))

theorem Num.val_add (a b : Num) : (a.add b).val = (a.val + b.val : F) :=
  (sub_congr (cast_add a.pos b.pos) (cast_add a.neg b.neg)).trans (ring (cast a.pos :: cast b.pos :: cast a.neg :: cast b.neg :: []) :
    (cast a.pos + cast b.pos) - (cast a.neg + cast b.neg) = (cast a.pos - cast a.neg) + (cast b.pos - cast b.neg))
theorem Num.val_sub (a b : Num) : (a.sub b).val = (a.val - b.val : F) :=
  (sub_congr (cast_add a.pos b.neg) (cast_add a.neg b.pos)).trans (ring (cast a.pos :: cast b.pos :: cast a.neg :: cast b.neg :: []) :
    (cast a.pos + cast b.neg) - (cast a.neg + cast b.pos) = (cast a.pos - cast a.neg) - (cast b.pos - cast b.neg))
theorem Num.val_mul (a b : Num) : (a.mul b).val = (a.val * b.val : F) :=
  (sub_congr ((cast_add _ _).trans (add_congr (cast_mul a.pos b.pos) (cast_mul a.neg b.neg))) ((cast_add _ _).trans (add_congr (cast_mul a.pos b.neg) (cast_mul a.neg b.pos)))).trans
    (ring (cast a.pos :: cast b.pos :: cast a.neg :: cast b.neg :: []) :
      (cast a.pos * cast b.pos + cast a.neg * cast b.neg) - (cast a.pos * cast b.neg + cast a.neg * cast b.pos) = (cast a.pos - cast a.neg) * (cast b.pos - cast b.neg))
theorem Num.val_sum : (n : Nat) → (f : Nat → Num) → (Num.sum n f).val = CompactProofs.sum n (fun i => ((f i).val : F))
  | .zero, _ => (ring [] : (0 : F) - 0 = 0)
  | .succ n, f => (Num.val_add _ _).trans (add_congr (Num.val_sum n f) rfl)
theorem Num.val_vecMul (d : Nat) (x : Nat → Num) (W : Nat → Nat → Num) (j : Nat) :
    (Num.vecMul d x W j).val = CompactProofs.vecMul d (fun l => ((x l).val : F)) (fun l j => (W l j).val) j :=
  (Num.val_sum d _).trans (sum_congr (fun l _ => Num.val_mul _ _))

/-! ## A model with integer weights -/

structure NumModel where
  dModel : Nat
  E : Nat → Nat → Num
  P : Nat → Nat → Num
  WQ : Nat → Nat → Num
  WK : Nat → Nat → Num
  WV : Nat → Nat → Num
  WO : Nat → Nat → Num
  U : Nat → Nat → Num
  bQ : Nat → Num
  bK : Nat → Num
  bV : Nat → Num
  bO : Nat → Num
  bU : Nat → Num
/-- The model over the field: `d_head = 1`, so the scores are divided by `√1 = 1`. -/
def NumModel.model (N : NumModel) : Model F where
  dModel := N.dModel
  dHead := 1
  E i j := (N.E i j).val
  P i j := (N.P i j).val
  WQ i j := (N.WQ i j).val
  WK i j := (N.WK i j).val
  WV i j := (N.WV i j).val
  WO i j := (N.WO i j).val
  U i j := (N.U i j).val
  bQ i := (N.bQ i).val
  bK i := (N.bK i).val
  bV i := (N.bV i).val
  bO i := (N.bO i).val
  bU i := (N.bU i).val
  scale := 1

def NumModel.residual (N : NumModel) (i x l : Nat) : Num := (N.E x l).add (N.P i l)
def NumModel.query (N : NumModel) (n q h : Nat) : Num := (Num.vecMul N.dModel (N.residual n q) N.WQ h).add (N.bQ h)
def NumModel.out (N : NumModel) (z : Nat → Num) (o : Nat) : Num := Num.vecMul N.dModel (Num.vecMul 1 z N.WO) N.U o
def NumModel.EQKE (N : NumModel) (n q x : Nat) : Num := Num.sum 1 (fun h => (N.query n q h).mul (Num.vecMul N.dModel (N.E x) N.WK h))
def NumModel.EQKP (N : NumModel) (n q i : Nat) : Num := Num.sum 1 (fun h => (N.query n q h).mul (Num.vecMul N.dModel (N.P i) N.WK h))
def NumModel.EVOU (N : NumModel) (x o : Nat) : Num := N.out (Num.vecMul N.dModel (N.E x) N.WV) o
def NumModel.PVOU (N : NumModel) (i o : Nat) : Num := N.out (Num.vecMul N.dModel (N.P i) N.WV) o
def NumModel.EU (N : NumModel) (n q o : Nat) : Num :=
  ((Num.vecMul N.dModel (N.residual n q) N.U o).add ((N.out N.bV o).add (Num.vecMul N.dModel N.bO N.U o))).add (N.bU o)

theorem NumModel.val_query (N : NumModel) (n q h : Nat) : (N.query n q h).val = (N.model.query n q h : F) :=
  (Num.val_add _ _).trans (add_congr ((Num.val_vecMul _ _ _ _).trans (vecMul_congr _ _ (fun l _ => Num.val_add _ _))) rfl)
theorem NumModel.val_out (N : NumModel) (z : Nat → Num) (w : Nat → F) (h : ∀ j, (z j).val = w j) (o : Nat) : (N.out z o).val = N.model.out w o :=
  (Num.val_vecMul _ _ _ _).trans (vecMul_congr _ _ (fun l _ => (Num.val_vecMul _ _ _ _).trans (vecMul_congr _ _ (fun j _ => h j))))
theorem NumModel.val_EQKE (N : NumModel) (n q x : Nat) : (N.EQKE n q x).val = ((N.model : Model F).circuits n).EQKE q x :=
  (Num.val_sum 1 _).trans (sum_congr (fun h _ => (Num.val_mul _ _).trans (mul_congr (N.val_query n q h) (Num.val_vecMul _ _ _ _))))
theorem NumModel.val_EQKP (N : NumModel) (n q i : Nat) : (N.EQKP n q i).val = ((N.model : Model F).circuits n).EQKP q i :=
  (Num.val_sum 1 _).trans (sum_congr (fun h _ => (Num.val_mul _ _).trans (mul_congr (N.val_query n q h) (Num.val_vecMul _ _ _ _))))
theorem NumModel.val_EVOU (N : NumModel) (n x o : Nat) : (N.EVOU x o).val = ((N.model : Model F).circuits n).EVOU x o :=
  N.val_out _ _ (fun j => Num.val_vecMul _ _ _ j) o
theorem NumModel.val_PVOU (N : NumModel) (n i o : Nat) : (N.PVOU i o).val = ((N.model : Model F).circuits n).PVOU i o :=
  N.val_out _ _ (fun j => Num.val_vecMul _ _ _ j) o
theorem NumModel.val_EU (N : NumModel) (n q o : Nat) : (N.EU n q o).val = ((N.model : Model F).circuits n).EU q o :=
  (Num.val_add _ _).trans (add_congr ((Num.val_add _ _).trans (add_congr
    ((Num.val_vecMul _ _ _ _).trans (vecMul_congr _ _ (fun l _ => Num.val_add _ _)))
    ((Num.val_add _ _).trans (add_congr (N.val_out _ _ (fun _ => rfl) o) (Num.val_vecMul _ _ _ _))))) rfl)

/-- The term of a position: `c_i` of the rule `margins`, with threshold 0. -/
def NumModel.term (N : NumModel) (n q i x o m : Nat) : Num :=
  ((N.EU n q o).sub (N.EU n q m)).add (((N.EVOU x o).sub (N.EVOU x m)).add ((N.PVOU i o).sub (N.PVOU i m)))
theorem NumModel.val_term (N : NumModel) (n q i x o m : Nat) : (N.term n q i x o m).val = ((N.model : Model F).circuits n).term 0 q i x o m :=
  ((Num.val_add _ _).trans (add_congr ((Num.val_sub _ _).trans (sub_congr (N.val_EU n q o) (N.val_EU n q m)))
    ((Num.val_add _ _).trans (add_congr ((Num.val_sub _ _).trans (sub_congr (N.val_EVOU n x o) (N.val_EVOU n x m)))
      ((Num.val_sub _ _).trans (sub_congr (N.val_PVOU n i o) (N.val_PVOU n i m))))))).trans (add_zero _).symm

/-! ## Enclosures of the exponential -/

/-- `L ≤ D exp y ≤ U`. -/
def Enc (D L U : Nat) (y : F) : Prop := cast L ≤ cast D * exp y ∧ cast D * exp y ≤ cast U
theorem Enc.mul {D L U L' U' l u : Nat} {y y' : F} (hD : 0 < D) (h : Enc D L U y) (h' : Enc D L' U' y') (hl : l * D ≤ L * L') (hu : U * U' ≤ u * D) : Enc D l u (y + y') :=
  have d : (0 : F) < cast D := cast_pos_of hD
  have e : cast D * (cast D * exp (y + y')) = (cast D * exp y) * (cast D * exp y') :=
    (mul_congr rfl (mul_congr rfl (exp_add y y'))).trans (ring (cast D :: exp y :: exp y' :: []))
  ⟨le_of_mul_le_mul d (calc cast D * cast l = cast l * cast D := mul_comm _ _
      _ = cast (l * D) := (cast_mul l D).symm
      _ ≤ cast (L * L') := cast_le hl
      _ = cast L * cast L' := cast_mul L L'
      _ ≤ (cast D * exp y) * (cast D * exp y') := mul_le_mul h.left h'.left (cast_nonneg L) (mul_nonneg (cast_nonneg D) (exp_nonneg y'))
      _ = cast D * (cast D * exp (y + y')) := e.symm),
   le_of_mul_le_mul d (calc cast D * (cast D * exp (y + y')) = (cast D * exp y) * (cast D * exp y') := e
      _ ≤ cast U * cast U' := mul_le_mul h.right h'.right (mul_nonneg (cast_nonneg D) (exp_nonneg y)) (cast_nonneg U')
      _ = cast (U * U') := (cast_mul U U').symm
      _ ≤ cast (u * D) := cast_le hu
      _ = cast u * cast D := cast_mul u D
      _ = cast D * cast u := mul_comm _ _)⟩
/-- The tiny base: `1 - 1/S ≤ exp (-1/S) ≤ 1 / (1 + 1/S)`. -/
theorem Enc.base {D L U S : Nat} (hS : 0 < S) (hl : L * S + D ≤ D * S) (hu : D * S ≤ U * Nat.succ S) : Enc D L U (-inv (cast S : F)) :=
  have s : (0 : F) < cast S := cast_pos_of hS
  let x : F := inv (cast S)
  have sx : cast S * x = 1 := mul_inv s
  have x0 : 0 < 1 + x := add_pos zero_lt_one (inv_nonneg s)
  have bound : exp (-x) ≤ inv (1 + x) :=
    have e : (1 : F) - -x = 1 + x := ring (x :: [])
    Eq.subst (motive := fun z => exp (-x) ≤ inv z) e (exp_le_inv (x := -x) (replace e (fun z => 0 < z) x0))
  ⟨le_of_mul_le_mul s
     (calc cast S * cast L ≤ cast S * (cast D * (1 - x)) :=
            le_of (sub_nonneg (cast_le hl : cast (F := F) (L * S + D) ≤ cast (D * S)))
              (calc cast S * (cast D * (1 - x)) - cast S * cast L = (cast D * cast S - cast D * (cast S * x)) - cast L * cast S := ring (cast S :: cast D :: x :: cast L :: [])
                _ = (cast D * cast S - cast D * 1) - cast L * cast S := sub_congr (sub_congr rfl (mul_congr rfl sx)) rfl
                _ = cast D * cast S - (cast L * cast S + cast D) := ring (cast D :: cast S :: cast L :: [])
                _ = cast (D * S) - cast (L * S + D) := sub_congr (cast_mul D S).symm ((add_congr (cast_mul L S).symm rfl).trans (cast_add _ _).symm))
       _ ≤ cast S * (cast D * exp (-x)) := mul_le_mul_left (mul_le_mul_left (one_add_le_exp (-x)) (cast_nonneg D)) (le_of_lt s)),
   le_trans (mul_le_mul_left bound (cast_nonneg D)) (le_of_mul_le_mul (mul_pos s x0)
     (calc (cast S * (1 + x)) * (cast D * inv (1 + x)) = (cast D * cast S) * ((1 + x) * inv (1 + x)) := ring (cast S :: x :: cast D :: inv (1 + x) :: [])
       _ = (cast D * cast S) * 1 := mul_congr rfl (mul_inv x0)
       _ = cast (D * S) := (mul_one _).trans (cast_mul D S).symm
       _ ≤ cast (U * Nat.succ S) := cast_le hu
       _ = cast U * (cast S + 1) := cast_mul U (Nat.succ S)
       _ = cast U * (cast S + cast S * x) := mul_congr rfl (add_congr rfl sx.symm)
       _ = (cast S * (1 + x)) * cast U := ring (cast U :: cast S :: x :: [])))⟩

/-- Each pair encloses the square of the one before. -/
def squaresOk (D : Nat) : Nat → Nat → List (Nat × Nat) → Bool
  | _, _, [] => true
  | L, U, ⟨l, u⟩ :: rest => both (both (Nat.ble (l * D) (L * L)) (Nat.ble (U * U) (u * D))) (squaresOk D l u rest)
def lastPair : Nat → Nat → List (Nat × Nat) → Nat × Nat
  | L, U, [] => ⟨L, U⟩
  | _, _, ⟨l, u⟩ :: rest => lastPair l u rest
def size {α : Type} : List α → Nat
  | [] => 0
  | _ :: l => Nat.succ (size l)
/-- Doubling from the inside: `doubledIn s y = 2^s y`. -/
def doubledIn : Nat → F → F
  | .zero, y => y
  | .succ s, y => doubledIn s (y + y)
theorem squares_enc {D : Nat} (hD : 0 < D) : (l : List (Nat × Nat)) → (L U : Nat) → (y : F) → Enc D L U y → squaresOk D L U l = true →
    Enc D (lastPair L U l).fst (lastPair L U l).snd (doubledIn (size l) y)
  | [], _, _, _, h, _ => h
  | ⟨l, u⟩ :: rest, _, _, y, h, k => squares_enc hD rest l u (y + y) (Enc.mul hD h h (ble_le (both_left (both_left k))) (ble_le (both_right (both_left k)))) (both_right k)
theorem doubledIn_eq : (s : Nat) → (y : F) → doubledIn s y = cast (pow 2 s) * y
  | .zero, y => ((mul_congr (ring [] : (0 : F) + 1 = 1) rfl).trans (one_mul y)).symm
  | .succ s, y => (doubledIn_eq s (y + y)).trans
      ((ring (cast (pow 2 s) :: y :: []) : cast (pow 2 s) * (y + y) = ((0 + 1 + 1) * cast (pow 2 s)) * y).trans (mul_congr (cast_mul 2 (pow 2 s)).symm rfl))

/-- Each pair encloses the product of the one before with `⟨L₁, U₁⟩`. -/
def powersOk (D L₁ U₁ : Nat) : Nat → Nat → List (Nat × Nat) → Bool
  | _, _, [] => true
  | L, U, ⟨l, u⟩ :: rest => both (both (Nat.ble (l * D) (L * L₁)) (Nat.ble (U * U₁) (u * D))) (powersOk D L₁ U₁ l u rest)
/-- The entry for `exp (-d)`; beyond the list `0 ≤ exp (-d) ≤ 1` is used. -/
def lookup (D : Nat) : List (Nat × Nat) → Nat → Nat × Nat
  | [], _ => ⟨0, D⟩
  | p :: _, .zero => p
  | _ :: l, .succ d => lookup D l d
theorem exp_neg_le_one {x : F} (h : 0 ≤ x) : exp (-x) ≤ 1 :=
  le_trans (exp_le_exp (le_of h (ring (x :: []) : 0 - -x = x))) (le_of_eq exp_zero)
theorem powers_enc {D L₁ U₁ : Nat} (hD : 0 < D) (h₁ : Enc D L₁ U₁ (-1 : F)) : (l : List (Nat × Nat)) → (L U d : Nat) → Enc D L U (-cast d : F) →
    powersOk D L₁ U₁ L U l = true → (j : Nat) → Enc D (lookup D (⟨L, U⟩ :: l) j).fst (lookup D (⟨L, U⟩ :: l) j).snd (-cast (d + j) : F)
  | _, _, _, _, h, _, .zero => h
  | [], _, _, d, _, _, .succ j =>
    ⟨mul_nonneg (cast_nonneg D) (exp_nonneg _),
     calc cast D * exp (-cast (d + Nat.succ j) : F) ≤ cast D * 1 := mul_le_mul_left (exp_neg_le_one (cast_nonneg _)) (cast_nonneg D)
       _ = cast D := mul_one _⟩
  | ⟨l, u⟩ :: rest, L, U, d, h, k, .succ j =>
    have next : Enc D l u (-cast (Nat.succ d) : F) :=
      replace (ring (cast d :: []) : -(cast d + 1 : F) = -cast d + -1) (fun y => Enc D l u y)
        (Enc.mul hD h h₁ (ble_le (both_left (both_left k))) (ble_le (both_right (both_left k))))
    replace (nat_succ_add d j).symm (fun z => Enc D (lookup D (⟨l, u⟩ :: rest) j).fst (lookup D (⟨l, u⟩ :: rest) j).snd (-cast z : F))
      (powers_enc hD h₁ rest l u (Nat.succ d) next (both_right k) j)

/-- Untrusted enclosures: `D` the unit, `base` for `exp (-2^-s)`, then squares up to `exp (-1)`, then powers `exp (-1), exp (-2), ...`. -/
structure ExpTable where
  D : Nat
  base : Nat × Nat
  squares : List (Nat × Nat)
  powers : List (Nat × Nat)
def ExpTable.ok (T : ExpTable) : Bool :=
  let S := pow 2 (size T.squares)
  let e := lastPair T.base.fst T.base.snd T.squares
  both (both (blt 0 T.D) (both (Nat.ble (T.base.fst * S + T.D) (T.D * S)) (Nat.ble (T.D * S) (T.base.snd * Nat.succ S))))
    (both (squaresOk T.D T.base.fst T.base.snd T.squares) (powersOk T.D e.fst e.snd T.D T.D T.powers))
/-- The enclosure of `D exp (-d)`. -/
def ExpTable.entry (T : ExpTable) (d : Nat) : Nat × Nat := lookup T.D (⟨T.D, T.D⟩ :: T.powers) d

theorem ExpTable.enc (T : ExpTable) (h : T.ok = true) (d : Nat) : Enc T.D (T.entry d).fst (T.entry d).snd (-cast d : F) :=
  have hD : 0 < T.D := blt_lt (both_left (both_left h))
  have hb := both_right (both_left h)
  have hS : 0 < pow 2 (size T.squares) := pow_succ_pos 1 (size T.squares)
  have first : Enc T.D (lastPair T.base.fst T.base.snd T.squares).fst (lastPair T.base.fst T.base.snd T.squares).snd (-1 : F) :=
    have e : doubledIn (size T.squares) (-inv (cast (pow 2 (size T.squares)) : F)) = -1 :=
      (doubledIn_eq _ _).trans ((ring (cast (pow 2 (size T.squares)) :: inv (cast (pow 2 (size T.squares))) :: []) :
        cast (pow 2 (size T.squares)) * -inv (cast (pow 2 (size T.squares)) : F) = -(cast (pow 2 (size T.squares)) * inv (cast (pow 2 (size T.squares))))).trans
        (neg_congr (mul_inv (cast_pos_of hS))))
    Eq.subst (motive := fun y => Enc T.D (lastPair T.base.fst T.base.snd T.squares).fst (lastPair T.base.fst T.base.snd T.squares).snd y) e
      (squares_enc hD T.squares T.base.fst T.base.snd _ (Enc.base hS (ble_le (both_left hb)) (ble_le (both_right hb))) (both_left (both_right h)))
  have zero : Enc T.D T.D T.D (-cast 0 : F) :=
    have e : cast T.D * exp (-cast 0 : F) = cast T.D := (mul_congr rfl ((congrArg exp (ring [] : -(0 : F) = 0)).trans exp_zero)).trans (mul_one _)
    ⟨le_of_eq e.symm, le_of_eq e⟩
  replace (nat_zero_add d).symm (fun z => Enc T.D (T.entry d).fst (T.entry d).snd (-cast z : F)) (powers_enc hD first T.powers T.D T.D 0 zero (both_right (both_right h)) d)

/-! ## Deciding one sequence -/

/-- How far the score of token `x` at place `i` lies below `top q`. -/
def NumModel.below (N : NumModel) (top : Nat → Num) (n q i x : Nat) : Num := (top q).sub ((N.EQKE n q x).add (N.EQKP n q i))
def NumModel.distance (N : NumModel) (top : Nat → Num) (n q i x : Nat) : Nat := (N.below top n q i x).pos - (N.below top n q i x).neg
/-- No score of the sequence exceeds `top`. -/
def NumModel.topOk (N : NumModel) (top : Nat → Num) (n : Nat) (t : Nat → Nat) : Nat → Bool
  | .zero => true
  | .succ i => both (Nat.ble (N.below top n (t n) i (t i)).neg (N.below top n (t n) i (t i)).pos) (N.topOk top n t i)
def forallBelow : Nat → (Nat → Bool) → Bool
  | .zero, _ => true
  | .succ n, p => both (p n) (forallBelow n p)
def existsBelow : Nat → (Nat → Bool) → Bool
  | .zero, _ => false
  | .succ n, p => either (p n) (existsBelow n p)
theorem forallBelow_at {p : Nat → Bool} : {n : Nat} → forallBelow n p = true → (i : Nat) → i < n → p i = true
  | .zero, _, _, h => (not_lt_zero h).elim
  | .succ n, h, i, hi => (lt_or_eq_of_lt_succ hi).elim (forallBelow_at (both_right h) i) (fun e => replace e (fun i => p i = true) (both_left h))
theorem existsBelow_at {p : Nat → Bool} : {n : Nat} → existsBelow n p = true → Exists fun i => i < n ∧ p i = true
  | .zero, h => absurd h.symm true_ne_false
  | .succ n, h => (either_elim h).elim (fun k => ⟨n, lt_succ_self n, k⟩) (fun k => match existsBelow_at k with
    | ⟨i, hi, hp⟩ => ⟨i, lt_succ_of_lt hi, hp⟩)

/-- The sum of the terms is negative even with the unfavourable ends of the enclosures. -/
def NumModel.negative (N : NumModel) (T : ExpTable) (top : Nat → Num) (n : Nat) (t : Nat → Nat) (o m : Nat) : Bool :=
  let w := fun i => T.entry (N.distance top n (t n) i (t i))
  let c := fun i => N.term n (t n) i (t i) o m
  blt (sumNat (Nat.succ n) (fun i => (w i).snd * ((c i).pos - (c i).neg))) (sumNat (Nat.succ n) (fun i => (w i).fst * ((c i).neg - (c i).pos)))
/-- The sum of the terms is nonnegative even with the unfavourable ends of the enclosures. -/
def NumModel.nonnegative (N : NumModel) (T : ExpTable) (top : Nat → Num) (n : Nat) (t : Nat → Nat) (o m : Nat) : Bool :=
  let w := fun i => T.entry (N.distance top n (t n) i (t i))
  let c := fun i => N.term n (t n) i (t i) o m
  Nat.ble (sumNat (Nat.succ n) (fun i => (w i).snd * ((c i).neg - (c i).pos))) (sumNat (Nat.succ n) (fun i => (w i).fst * ((c i).pos - (c i).neg)))
/-- Certainly right. -/
def NumModel.right (N : NumModel) (T : ExpTable) (top : Nat → Num) (O n : Nat) (t : Nat → Nat) : Bool :=
  both (N.topOk top n t (Nat.succ n)) (forallBelow O (fun o => either (Nat.beq o (label n t)) (N.negative T top n t o (label n t))))
/-- Certainly wrong. -/
def NumModel.wrong (N : NumModel) (T : ExpTable) (top : Nat → Num) (O n : Nat) (t : Nat → Nat) : Bool :=
  both (N.topOk top n t (Nat.succ n)) (existsBelow O (fun o => both (not (Nat.beq o (label n t))) (N.nonnegative T top n t o (label n t))))

theorem topOk_at {N : NumModel} {top : Nat → Num} {n : Nat} {t : Nat → Nat} : {k : Nat} → N.topOk top n t k = true → (i : Nat) → i < k →
    (N.below top n (t n) i (t i)).neg ≤ (N.below top n (t n) i (t i)).pos
  | .zero, _, _, h => (not_lt_zero h).elim
  | .succ k, h, i, hi => (lt_or_eq_of_lt_succ hi).elim (topOk_at (both_right h) i)
      (fun e => replace e (fun i => (N.below top n (t n) i (t i)).neg ≤ (N.below top n (t n) i (t i)).pos) (ble_le (both_left h)))

/-- `pos - neg`, as the difference of the two truncated differences. -/
theorem val_split (a : Num) : (a.val : F) = cast (a.pos - a.neg) - cast (a.neg - a.pos) :=
  have zero : ∀ x y : Nat, x ≤ y → x - y = 0 := fun x y h => nat_le_antisymm (sub_le_of_le_add y 0 (replace (nat_zero_add y) (fun z => x ≤ z) h)) (nat_zero_le _)
  have diff : ∀ x y : Nat, y ≤ x → cast (F := F) (x - y) = cast x - cast y := fun x y h =>
    (calc cast (F := F) (x - y) = (cast (x - y) + cast y) - cast y := ring (cast (x - y) :: cast y :: [])
      _ = cast x - cast y := sub_congr ((cast_add _ _).symm.trans (congrArg cast (sub_add_cancel_of_le y h))) rfl)
  (nat_lt_or_le a.pos a.neg).elim
    (fun h => calc cast a.pos - cast a.neg = 0 - (cast a.neg - cast a.pos) := ring (cast a.pos :: cast a.neg :: [])
      _ = cast (a.pos - a.neg) - cast (a.neg - a.pos) := sub_congr (congrArg cast (zero a.pos a.neg (nat_le_of_lt h)).symm) (diff a.neg a.pos (nat_le_of_lt h)).symm)
    (fun h => calc cast a.pos - cast a.neg = (cast a.pos - cast a.neg) - 0 := ring (cast a.pos :: cast a.neg :: [])
      _ = cast (a.pos - a.neg) - cast (a.neg - a.pos) := sub_congr (diff a.pos a.neg h).symm (congrArg cast (zero a.neg a.pos h).symm))
theorem cast_sumNat : (n : Nat) → (f : Nat → Nat) → cast (F := F) (sumNat n f) = sum n (fun i => cast (f i))
  | .zero, _ => rfl
  | .succ n, f => (cast_add _ _).trans (add_congr (cast_sumNat n f) rfl)

/-- The weights of a sequence, up to a common factor, and the sum of its terms with enclosures. -/
theorem NumModel.sums (N : NumModel) (T : ExpTable) (hT : T.ok = true) (top : Nat → Num) (n : Nat) (t : Nat → Nat) (ht : N.topOk top n t (Nat.succ n) = true) (o m : Nat) :
    let C := (N.model : Model F).circuits n
    let w := fun i => cast T.D * exp (-cast (N.distance top n (t n) i (t i)) : F)
    (N.negative T top n t o m = true → sum (Nat.succ n) (fun i => w i * C.term 0 (t n) i (t i) o m) < 0) ∧
    (N.nonnegative T top n t o m = true → 0 ≤ sum (Nat.succ n) (fun i => w i * C.term 0 (t n) i (t i) o m)) ∧
    (0 < exp ((top (t n)).val : F) * inv (cast T.D : F) ∧
      ∀ i, i < Nat.succ n → C.weight (t n) i (t i) = (exp ((top (t n)).val : F) * inv (cast T.D : F)) * w i) :=
  let C := (N.model : Model F).circuits n
  let q := t n
  let d := fun i => N.distance top n q i (t i)
  let w := fun i => cast T.D * exp (-cast (d i) : F)
  let e := fun i => T.entry (d i)
  let c := fun i => N.term n q i (t i) o m
  have D0 : (0 : F) < cast T.D := cast_pos_of (blt_lt (both_left (both_left hT)))
  have enc : ∀ i, Enc T.D (e i).fst (e i).snd (-cast (d i) : F) := fun i => T.enc hT (d i)
  have split : ∀ i, w i * C.term 0 q i (t i) o m = w i * cast ((c i).pos - (c i).neg) - w i * cast ((c i).neg - (c i).pos) := fun i =>
    (mul_congr rfl ((N.val_term n q i (t i) o m).symm.trans (val_split (c i)))).trans
      (ring (w i :: cast ((c i).pos - (c i).neg) :: cast ((c i).neg - (c i).pos) :: []))
  let P := fun i => (e i).snd * ((c i).pos - (c i).neg)
  let Q := fun i => (e i).fst * ((c i).neg - (c i).pos)
  let P' := fun i => (e i).fst * ((c i).pos - (c i).neg)
  let Q' := fun i => (e i).snd * ((c i).neg - (c i).pos)
  have up : sum (Nat.succ n) (fun i => w i * C.term 0 q i (t i) o m) ≤ cast (sumNat (Nat.succ n) P) - cast (sumNat (Nat.succ n) Q) :=
    calc sum (Nat.succ n) (fun i => w i * C.term 0 q i (t i) o m) ≤ sum (Nat.succ n) (fun i => cast (P i) - cast (Q i)) := sum_le (fun i _ =>
          le_trans (le_of_eq (split i)) (le_of (add_nonneg
            (sub_nonneg (mul_le_mul_right (enc i).right (cast_nonneg ((c i).pos - (c i).neg)))) (sub_nonneg (mul_le_mul_right (enc i).left (cast_nonneg ((c i).neg - (c i).pos)))))
            ((sub_congr (sub_congr (cast_mul _ _) (cast_mul _ _)) rfl).trans
              (ring (w i :: cast ((c i).pos - (c i).neg) :: cast ((c i).neg - (c i).pos) :: cast (e i).fst :: cast (e i).snd :: []) :
                (cast (e i).snd * cast ((c i).pos - (c i).neg) - cast (e i).fst * cast ((c i).neg - (c i).pos)) - (w i * cast ((c i).pos - (c i).neg) - w i * cast ((c i).neg - (c i).pos))
                  = (cast (e i).snd * cast ((c i).pos - (c i).neg) - w i * cast ((c i).pos - (c i).neg)) + (w i * cast ((c i).neg - (c i).pos) - cast (e i).fst * cast ((c i).neg - (c i).pos))))))
      _ = cast (sumNat (Nat.succ n) P) - cast (sumNat (Nat.succ n) Q) := (sum_sub _ _ _).trans (sub_congr (cast_sumNat _ P).symm (cast_sumNat _ Q).symm)
  have dn : cast (sumNat (Nat.succ n) P') - cast (sumNat (Nat.succ n) Q') ≤ sum (Nat.succ n) (fun i => w i * C.term 0 q i (t i) o m) :=
    calc cast (sumNat (Nat.succ n) P') - cast (sumNat (Nat.succ n) Q') = sum (Nat.succ n) (fun i => cast (P' i) - cast (Q' i)) :=
          (sub_congr (cast_sumNat _ P') (cast_sumNat _ Q')).trans (sum_sub _ _ _).symm
      _ ≤ sum (Nat.succ n) (fun i => w i * C.term 0 q i (t i) o m) := sum_le (fun i _ =>
          le_trans (le_of (add_nonneg
            (sub_nonneg (mul_le_mul_right (enc i).left (cast_nonneg ((c i).pos - (c i).neg)))) (sub_nonneg (mul_le_mul_right (enc i).right (cast_nonneg ((c i).neg - (c i).pos)))))
            ((sub_congr rfl (sub_congr (cast_mul _ _) (cast_mul _ _))).trans
              (ring (w i :: cast ((c i).pos - (c i).neg) :: cast ((c i).neg - (c i).pos) :: cast (e i).fst :: cast (e i).snd :: []) :
                (w i * cast ((c i).pos - (c i).neg) - w i * cast ((c i).neg - (c i).pos)) - (cast (e i).fst * cast ((c i).pos - (c i).neg) - cast (e i).snd * cast ((c i).neg - (c i).pos))
                  = (w i * cast ((c i).pos - (c i).neg) - cast (e i).fst * cast ((c i).pos - (c i).neg)) + (cast (e i).snd * cast ((c i).neg - (c i).pos) - w i * cast ((c i).neg - (c i).pos)))))
            (le_of_eq (split i).symm))
  have strict : ∀ {a b : Nat}, a < b → cast (F := F) a - cast b < 0 := fun {a b} h =>
    have k : cast (F := F) a + 1 ≤ cast b := cast_le h
    lt_of (add_pos zero_lt_one (sub_nonneg k)) (ring (cast a :: cast b :: []))
  ⟨fun h => lt_of_le_of_lt up (strict (blt_lt h)),
   fun h => le_trans (sub_nonneg (cast_le (F := F) (ble_le h))) dn,
   mul_pos (exp_pos _) (inv_pos D0),
   fun i hi =>
    have dist : (cast (d i) : F) = (top q).val - ((N.EQKE n q (t i)).add (N.EQKP n q i)).val :=
      (have b := topOk_at ht i hi
       have k : cast (F := F) (d i) + cast (N.below top n q i (t i)).neg = cast (N.below top n q i (t i)).pos := (cast_add _ _).symm.trans (congrArg cast (sub_add_cancel_of_le _ b))
       (eq_sub_of_add_eq k).trans (Num.val_sub _ _))
    have score : C.scale * (C.EQKE q (t i) + C.EQKP q i) = (top q).val + -cast (d i) :=
      calc (1 : F) * (C.EQKE q (t i) + C.EQKP q i) = ((N.EQKE n q (t i)).add (N.EQKP n q i)).val :=
            (one_mul _).trans ((Num.val_add _ _).trans (add_congr (N.val_EQKE n q (t i)) (N.val_EQKP n q i))).symm
        _ = (top q).val + -((top q).val - ((N.EQKE n q (t i)).add (N.EQKP n q i)).val) := ring ((top q).val :: ((N.EQKE n q (t i)).add (N.EQKP n q i)).val :: [])
        _ = (top q).val + -cast (d i) := add_congr rfl (neg_congr dist.symm)
    calc C.weight q i (t i) = exp ((top q).val + -cast (d i)) := congrArg exp score
      _ = exp ((top q).val) * exp (-cast (d i)) := exp_add _ _
      _ = exp ((top q).val) * ((cast T.D * inv (cast T.D)) * exp (-cast (d i))) := mul_congr rfl ((one_mul _).symm.trans (mul_congr (mul_inv D0).symm rfl))
      _ = (exp ((top q).val) * inv (cast T.D)) * (cast T.D * exp (-cast (d i))) := ring (exp ((top q).val) :: cast T.D :: inv (cast T.D) :: exp (-cast (d i)) :: [])⟩

/-- What the decision functions say is true of the model. -/
theorem NumModel.decides (N : NumModel) (T : ExpTable) (hT : T.ok = true) (top : Nat → Num) (O n : Nat) (t : Nat → Nat) :
    (N.right T top O n t = true → (N.model : Model F).Correct O n 0 t (label n t)) ∧
    (N.wrong T top O n t = true → ¬ (N.model : Model F).Correct O n 0 t (label n t)) :=
  let C := (N.model : Model F).circuits n
  let m := label n t
  ⟨fun h => (Model.correct_iff _ O n 0 t m).mp (fun o ho hne =>
    have s := N.sums (F := F) T hT top n t (both_left h) o m
    have k := forallBelow_at (both_right h) o ho
    have neg := s.left ((either_elim k).elim (fun e => absurd (beq_eq e) hne) id)
    (Rule.margins C n t o m 0 _ _ s.right.right.left s.right.right.right).left.mpr neg),
   fun h hc => match existsBelow_at (both_right h) with
    | ⟨o, ho, k⟩ =>
      have s := N.sums (F := F) T hT top n t (both_left h) o m
      have ne : o ≠ m := fun e => absurd (Eq.subst (motive := fun b => not b = true) (beq_of_eq e) (both_left k)).symm true_ne_false
      have nonneg := s.right.left (both_right k)
      ((Model.correct_iff _ O n 0 t m).mpr hc o ho ne) ((Rule.margins C n t o m 0 _ _ s.right.right.left s.right.right.right).right.mpr nonneg)⟩

/-- **The checker in the kernel is sound.** If the counts of certainly right and certainly wrong sequences evaluate to `a` and `b`, the
model is right on at least `a` and wrong on at least `b` sequences. -/
theorem NumModel.sound (N : NumModel) (T : ExpTable) (hT : T.ok = true) (top : Nat → Num) (O n v : Nat) (t₀ : Nat → Nat) (correct : (Nat → Nat) → Bool)
    (hc : ∀ t, Fills v (Nat.succ n) t₀ t → (correct t = true ↔ (N.model : Model F).Correct O n 0 t (label n t))) (a b : Nat)
    (ha : Nat.ble a (count v (Nat.succ n) (N.right T top O n) t₀) = true) (hb : Nat.ble b (count v (Nat.succ n) (N.wrong T top O n) t₀) = true) :
    a ≤ count v (Nat.succ n) correct t₀ ∧ count v (Nat.succ n) correct t₀ + b ≤ pow v (Nat.succ n) :=
  have right : count v (Nat.succ n) (N.right T top O n) t₀ ≤ count v (Nat.succ n) correct t₀ :=
    count_le (fun s hs h => (hc s hs).mpr ((N.decides (F := F) T hT top O n s).left h))
  have wrong : count v (Nat.succ n) (N.wrong T top O n) t₀ ≤ count v (Nat.succ n) (fun s => not (correct s)) t₀ :=
    count_le (fun s hs h => replace (eq_false_of_ne_true (fun k => (N.decides (F := F) T hT top O n s).right h ((hc s hs).mp k))) (fun b => not b = true) rfl)
  ⟨nat_le_trans (ble_le ha) right,
   nat_le_trans (nat_add_le_add (nat_le_refl _) (nat_le_trans (ble_le hb) wrong))
     (replace (count_not v (Nat.succ n) correct t₀) (fun x => x ≤ pow v (Nat.succ n)) (nat_le_refl _))⟩
end
end CompactProofs
