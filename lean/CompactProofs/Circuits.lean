import CompactProofs.Sums
/-!
# The model and its five circuits: rules `circuit`, `product`, `peel`

A sequence is a function `t : Nat → Nat`; its tokens are `t 0, ..., t n`, and the *query* is the last one, `t n` (so the length is `n + 1`).
Matrices are functions of two indices,
and two matrices are equal when all their entries are.
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-! ## Softmax averages -/

/-- `softmax n w i` is the share of position `i` in the sum of the weights `w 0, ..., w n`. -/
def softmax (n : Nat) (w : Nat → F) (i : Nat) : F := w i / sum (Nat.succ n) w

theorem softmax_total {n : Nat} {w : Nat → F} (h : ∀ i, i < Nat.succ n → 0 < w i) : sum (Nat.succ n) (softmax n w) = 1 :=
  calc sum (Nat.succ n) (softmax n w) = sum (Nat.succ n) w * inv (sum (Nat.succ n) w) := sum_mul_right (Nat.succ n) _ w
    _ = 1 := mul_inv (sum_pos h)
theorem softmax_nonneg {n : Nat} {w : Nat → F} (h : ∀ i, i < Nat.succ n → 0 < w i) (i : Nat) (hi : i < Nat.succ n) :
    0 ≤ softmax n w i := mul_nonneg (le_of_lt (h i hi)) (inv_nonneg (sum_pos h))
/-- A common positive factor of all weights does not matter. -/
theorem softmax_scale {n : Nat} {w u : Nat → F} {g : F} (hg : 0 < g) (hw : ∀ i, i < Nat.succ n → 0 < w i)
    (h : ∀ i, i < Nat.succ n → u i = g * w i) (i : Nat) (hi : i < Nat.succ n) : softmax n u i = softmax n w i :=
  have hZ : 0 < sum (Nat.succ n) w := sum_pos hw
  have e : sum (Nat.succ n) u = g * sum (Nat.succ n) w := (sum_congr h).trans (sum_mul_left _ g w)
  have hu : 0 < sum (Nat.succ n) u := pos_of (mul_pos hg hZ) e
  have k : inv (sum (Nat.succ n) u) = inv g * inv (sum (Nat.succ n) w) :=
    (inv_unique hu
      (calc sum (Nat.succ n) u * (inv g * inv (sum (Nat.succ n) w))
          = (g * sum (Nat.succ n) w) * (inv g * inv (sum (Nat.succ n) w)) := mul_congr e rfl
        _ = (g * inv g) * (sum (Nat.succ n) w * inv (sum (Nat.succ n) w)) :=
            ring (g :: sum (Nat.succ n) w :: inv g :: inv (sum (Nat.succ n) w) :: [])
        _ = 1 * 1 := mul_congr (mul_inv hg) (mul_inv hZ)
        _ = 1 := mul_one 1)).symm
  calc u i * inv (sum (Nat.succ n) u) = (g * w i) * (inv g * inv (sum (Nat.succ n) w)) := mul_congr (h i hi) k
    _ = (g * inv g) * (w i * inv (sum (Nat.succ n) w)) := ring (g :: w i :: inv g :: inv (sum (Nat.succ n) w) :: [])
    _ = 1 * (w i * inv (sum (Nat.succ n) w)) := mul_congr (mul_inv hg) rfl
    _ = w i * inv (sum (Nat.succ n) w) := one_mul _

/-! ## The model as its five circuits -/

/-- The five circuits of a one-layer, one-head, attention-only transformer, and the factor `scale = 1/√d_head` of the scores. -/
structure Circuits (F : Type) where
  /-- query token, token -/
  EQKE : Nat → Nat → F
  /-- query token, position -/
  EQKP : Nat → Nat → F
  /-- token, output -/
  EVOU : Nat → Nat → F
  /-- position, output -/
  PVOU : Nat → Nat → F
  /-- query token, output -/
  EU : Nat → Nat → F
  scale : F

/-- The unnormalised weight of token `x` at position `i` for the query token `q`. -/
def Circuits.weight (C : Circuits F) (q i x : Nat) : F := exp (C.scale * (C.EQKE q x + C.EQKP q i))
/-- The attention of the query to position `i`. -/
def Circuits.attention (C : Circuits F) (n : Nat) (t : Nat → Nat) (i : Nat) : F :=
  softmax n (fun i => C.weight (t n) i (t i)) i
/-- The logit of output `o` on the sequence `t 0, ..., t n`. -/
def Circuits.logit (C : Circuits F) (n : Nat) (t : Nat → Nat) (o : Nat) : F :=
  C.EU (t n) o + sum (Nat.succ n) (fun i => C.attention n t i * (C.EVOU (t i) o + C.PVOU i o))

theorem Circuits.weight_pos (C : Circuits F) (q i x : Nat) : 0 < C.weight q i x := exp_pos _

/-! ## The model as its weights -/

/-- The parameters of the transformer, with biases. -/
structure Model (F : Type) where
  dModel : Nat
  dHead : Nat
  /-- token, residual -/
  E : Nat → Nat → F
  /-- position, residual -/
  P : Nat → Nat → F
  WQ : Nat → Nat → F
  WK : Nat → Nat → F
  WV : Nat → Nat → F
  WO : Nat → Nat → F
  /-- residual, output -/
  U : Nat → Nat → F
  bQ : Nat → F
  bK : Nat → F
  bV : Nat → F
  bO : Nat → F
  bU : Nat → F
  scale : F

/-- The product of a row vector of length `d` with a matrix. -/
def vecMul (d : Nat) (x : Nat → F) (W : Nat → Nat → F) (j : Nat) : F := sum d (fun l => x l * W l j)

def Model.residual (M : Model F) (i x l : Nat) : F := M.E x l + M.P i l
def Model.query (M : Model F) (n q h : Nat) : F := vecMul M.dModel (M.residual n q) M.WQ h + M.bQ h
def Model.key (M : Model F) (i x h : Nat) : F := vecMul M.dModel (M.residual i x) M.WK h + M.bK h
def Model.value (M : Model F) (i x h : Nat) : F := vecMul M.dModel (M.residual i x) M.WV h + M.bV h
def Model.score (M : Model F) (n : Nat) (t : Nat → Nat) (i : Nat) : F :=
  M.scale * sum M.dHead (fun h => M.query n (t n) h * M.key i (t i) h)
def Model.attention (M : Model F) (n : Nat) (t : Nat → Nat) (i : Nat) : F := softmax n (fun i => exp (M.score n t i)) i
def Model.head (M : Model F) (n : Nat) (t : Nat → Nat) (h : Nat) : F :=
  sum (Nat.succ n) (fun i => M.attention n t i * M.value i (t i) h)
/-- The logit of output `o` on the sequence `t 0, ..., t n`, computed as the network computes it. -/
def Model.logit (M : Model F) (n : Nat) (t : Nat → Nat) (o : Nat) : F :=
  vecMul M.dModel (fun l => M.residual n (t n) l + (vecMul M.dHead (M.head n t) M.WO l + M.bO l)) M.U o + M.bU o

/-- From a vector in head space to the logits. -/
def Model.out (M : Model F) (z : Nat → F) (o : Nat) : F := vecMul M.dModel (vecMul M.dHead z M.WO) M.U o

/-- The circuits of a model for sequences whose query stands at position `n`. The bias of the queries is inside `EQKE` and `EQKP`, the bias
of the keys has
dropped out, the biases of the values and the outputs are inside `EU`. -/
def Model.circuits (M : Model F) (n : Nat) : Circuits F where
  EQKE q x := sum M.dHead (fun h => M.query n q h * vecMul M.dModel (M.E x) M.WK h)
  EQKP q i := sum M.dHead (fun h => M.query n q h * vecMul M.dModel (M.P i) M.WK h)
  EVOU x o := M.out (vecMul M.dModel (M.E x) M.WV) o
  PVOU i o := M.out (vecMul M.dModel (M.P i) M.WV) o
  EU q o := (vecMul M.dModel (M.residual n q) M.U o + (M.out M.bV o + vecMul M.dModel M.bO M.U o)) + M.bU o
  scale := M.scale

theorem vecMul_add (d : Nat) (x y : Nat → F) (W : Nat → Nat → F) (j : Nat) :
    vecMul d (fun l => x l + y l) W j = vecMul d x W j + vecMul d y W j :=
  (sum_congr (fun l _ => add_mul (x l) (y l) (W l j))).trans (sum_add d _ _)
theorem vecMul_congr {d : Nat} {x y : Nat → F} (W : Nat → Nat → F) (j : Nat) (h : ∀ l, l < d → x l = y l) :
    vecMul d x W j = vecMul d y W j := sum_congr (fun l hl => mul_congr (h l hl) rfl)
theorem vecMul_sum (d n : Nat) (a : Nat → F) (x : Nat → Nat → F) (W : Nat → Nat → F) (j : Nat) :
    vecMul d (fun l => sum n (fun i => a i * x i l)) W j = sum n (fun i => a i * vecMul d (x i) W j) :=
  calc sum d (fun l => sum n (fun i => a i * x i l) * W l j)
      = sum d (fun l => sum n (fun i => a i * (x i l * W l j))) :=
        sum_congr (fun l _ => (sum_mul_right n (W l j) _).symm.trans (sum_congr (fun i _ => mul_assoc _ _ _)))
    _ = sum n (fun i => sum d (fun l => a i * (x i l * W l j))) := sum_swap d n _
    _ = sum n (fun i => a i * vecMul d (x i) W j) := sum_congr (fun i _ => sum_mul_left d (a i) _)

theorem Model.out_add (M : Model F) (x y : Nat → F) (o : Nat) : M.out (fun h => x h + y h) o = M.out x o + M.out y o :=
  (vecMul_congr M.U o (fun l _ => vecMul_add M.dHead x y M.WO l)).trans (vecMul_add M.dModel _ _ M.U o)
theorem Model.out_sum (M : Model F) (n : Nat) (a : Nat → F) (x : Nat → Nat → F) (o : Nat) :
    M.out (fun h => sum n (fun i => a i * x i h)) o = sum n (fun i => a i * M.out (x i) o) :=
  (vecMul_congr M.U o (fun l _ => vecMul_sum M.dHead n a x M.WO l)).trans (vecMul_sum M.dModel n a _ M.U o)
theorem Model.out_congr (M : Model F) {x y : Nat → F} (h : ∀ l, l < M.dHead → x l = y l) (o : Nat) : M.out x o = M.out y o :=
  vecMul_congr M.U o (fun l _ => vecMul_congr M.WO l h)

/-- The scores of the network are those of the circuits, up to a number that does not depend on the position. -/
theorem Model.score_eq (M : Model F) (n : Nat) (t : Nat → Nat) (i : Nat) :
    M.score n t i = M.scale * ((M.circuits n).EQKE (t n) (t i) + (M.circuits n).EQKP (t n) i)
      + M.scale * sum M.dHead (fun h => M.query n (t n) h * M.bK h) :=
  have e : sum M.dHead (fun h => M.query n (t n) h * M.key i (t i) h)
      = ((M.circuits n).EQKE (t n) (t i) + (M.circuits n).EQKP (t n) i) + sum M.dHead (fun h => M.query n (t n) h * M.bK h) :=
    calc sum M.dHead (fun h => M.query n (t n) h * M.key i (t i) h)
        = sum M.dHead (fun h => (M.query n (t n) h * vecMul M.dModel (M.E (t i)) M.WK h
            + M.query n (t n) h * vecMul M.dModel (M.P i) M.WK h) + M.query n (t n) h * M.bK h) :=
          sum_congr (fun h _ => (mul_congr rfl (add_congr (vecMul_add M.dModel (M.E (t i)) (M.P i) M.WK h) rfl)).trans
            (ring (M.query n (t n) h :: vecMul M.dModel (M.E (t i)) M.WK h :: vecMul M.dModel (M.P i) M.WK h :: M.bK h :: [])))
      _ = sum M.dHead (fun h => M.query n (t n) h * vecMul M.dModel (M.E (t i)) M.WK h
            + M.query n (t n) h * vecMul M.dModel (M.P i) M.WK h) + sum M.dHead (fun h => M.query n (t n) h * M.bK h) :=
          sum_add M.dHead _ _
      _ = _ := add_congr (sum_add M.dHead _ _) rfl
  (mul_congr rfl e).trans (mul_add _ _ _)

/-- The attention of the network is that of its circuits: the bias of the keys drops out of the softmax. -/
theorem Model.attention_eq (M : Model F) (n : Nat) (t : Nat → Nat) (i : Nat) (hi : i < Nat.succ n) :
    M.attention n t i = (M.circuits n).attention n t i :=
  softmax_scale (g := exp (M.scale * sum M.dHead (fun h => M.query n (t n) h * M.bK h))) (exp_pos _)
    (fun i _ => exp_pos _)
    (fun i _ => (congrArg exp (M.score_eq n t i)).trans ((exp_add _ _).trans (mul_comm _ _))) i hi

/-- **Rule `circuit`.** The logits that the network computes from its weights are those of its five circuits, with the biases folded in. -/
theorem Rule.circuit (M : Model F) (n : Nat) (t : Nat → Nat) (o : Nat) : M.logit n t o = (M.circuits n).logit n t o :=
  let C := M.circuits n
  let a := C.attention n t
  have total : sum (Nat.succ n) a = 1 := softmax_total (fun i _ => C.weight_pos (t n) i (t i))
  have hhead : ∀ h, h < M.dHead → M.head n t h
      = sum (Nat.succ n) (fun i => a i * (vecMul M.dModel (M.E (t i)) M.WV h + vecMul M.dModel (M.P i) M.WV h)) + M.bV h :=
    fun h _ =>
    calc M.head n t h
        = sum (Nat.succ n) (fun i => a i * (vecMul M.dModel (M.E (t i)) M.WV h + vecMul M.dModel (M.P i) M.WV h) + a i * M.bV h) :=
          sum_congr (fun i hi => (mul_congr (M.attention_eq n t i hi)
            (add_congr (vecMul_add M.dModel (M.E (t i)) (M.P i) M.WV h) rfl)).trans (mul_add _ _ _))
      _ = sum (Nat.succ n) (fun i => a i * (vecMul M.dModel (M.E (t i)) M.WV h + vecMul M.dModel (M.P i) M.WV h))
            + sum (Nat.succ n) (fun i => a i * M.bV h) := sum_add _ _ _
      _ = _ := add_congr rfl ((sum_mul_right (Nat.succ n) (M.bV h) a).trans ((mul_congr total rfl).trans (one_mul _)))
  have hout : M.out (M.head n t) o = sum (Nat.succ n) (fun i => a i * (C.EVOU (t i) o + C.PVOU i o)) + M.out M.bV o :=
    calc M.out (M.head n t) o
        = M.out (fun h => sum (Nat.succ n) (fun i => a i * (vecMul M.dModel (M.E (t i)) M.WV h + vecMul M.dModel (M.P i) M.WV h)) + M.bV h) o :=
          M.out_congr hhead o
      _ = M.out (fun h => sum (Nat.succ n) (fun i => a i * (vecMul M.dModel (M.E (t i)) M.WV h + vecMul M.dModel (M.P i) M.WV h))) o
            + M.out M.bV o := M.out_add _ _ o
      _ = sum (Nat.succ n) (fun i => a i * M.out (fun h => vecMul M.dModel (M.E (t i)) M.WV h + vecMul M.dModel (M.P i) M.WV h) o)
            + M.out M.bV o := add_congr (M.out_sum (Nat.succ n) a _ o) rfl
      _ = sum (Nat.succ n) (fun i => a i * (C.EVOU (t i) o + C.PVOU i o)) + M.out M.bV o :=
          add_congr (sum_congr (fun i _ => mul_congr rfl (M.out_add _ _ o))) rfl
  let direct := vecMul M.dModel (M.residual n (t n)) M.U o
  let bias := vecMul M.dModel M.bO M.U o
  let avg := sum (Nat.succ n) (fun i => a i * (C.EVOU (t i) o + C.PVOU i o))
  calc M.logit n t o
      = (direct + vecMul M.dModel (fun l => vecMul M.dHead (M.head n t) M.WO l + M.bO l) M.U o) + M.bU o :=
        add_congr (vecMul_add _ _ _ _ _) rfl
    _ = (direct + (M.out (M.head n t) o + bias)) + M.bU o := add_congr (add_congr rfl (vecMul_add _ _ _ _ _)) rfl
    _ = (direct + ((avg + M.out M.bV o) + bias)) + M.bU o := add_congr (add_congr rfl (add_congr hout rfl)) rfl
    _ = ((direct + (M.out M.bV o + bias)) + M.bU o) + avg := ring (direct :: avg :: M.out M.bV o :: bias :: M.bU o :: [])

/-- **Rule `circuit`, centring.** Only the sums `EQKE + EQKP` and `EVOU + PVOU` enter the function: a row vector may be moved from one
summand to the other. -/
theorem Rule.circuit.centre (C D : Circuits F) (n : Nat) (t : Nat → Nat) (o : Nat) (hs : C.scale = D.scale)
    (hU : C.EU (t n) o = D.EU (t n) o)
    (hQ : ∀ x i, C.EQKE (t n) x + C.EQKP (t n) i = D.EQKE (t n) x + D.EQKP (t n) i)
    (hV : ∀ x i, C.EVOU x o + C.PVOU i o = D.EVOU x o + D.PVOU i o) : C.logit n t o = D.logit n t o :=
  add_congr hU (sum_congr (fun i hi => mul_congr
    (softmax_scale (g := 1) zero_lt_one (fun i _ => D.weight_pos (t n) i (t i))
      (fun i _ => (congrArg exp (mul_congr hs (hQ (t i) i))).trans (one_mul _).symm) i hi)
    (hV (t i) i)))

/-- The circuits with the keys centred by the row vector `k` and the values by `z`: `E + 1k` and `P - 1k` in EQKE and EQKP, `E + 1z` and `P
- 1z` in EVOU and PVOU. -/
def Model.centred (M : Model F) (n : Nat) (k z : Nat → F) : Circuits F where
  EQKE q x := sum M.dHead (fun h => M.query n q h * vecMul M.dModel (fun l => M.E x l + k l) M.WK h)
  EQKP q i := sum M.dHead (fun h => M.query n q h * vecMul M.dModel (fun l => M.P i l + -k l) M.WK h)
  EVOU x o := M.out (vecMul M.dModel (fun l => M.E x l + z l) M.WV) o
  PVOU i o := M.out (vecMul M.dModel (fun l => M.P i l + -z l) M.WV) o
  EU q o := (M.circuits n).EU q o
  scale := M.scale

/-- **Rule `circuit`, with centres:** the centred circuits have the same logits, for any centres. -/
theorem Rule.circuit.centred (M : Model F) (n : Nat) (k z : Nat → F) (t : Nat → Nat) (o : Nat) :
    M.logit n t o = (M.centred n k z).logit n t o :=
  have both : ∀ (x y c : Nat → F) (W : Nat → Nat → F) (j : Nat),
      vecMul M.dModel (fun l => x l + c l) W j + vecMul M.dModel (fun l => y l + -c l) W j = vecMul M.dModel x W j + vecMul M.dModel y W j := fun x y c W j =>
    calc vecMul M.dModel (fun l => x l + c l) W j + vecMul M.dModel (fun l => y l + -c l) W j
        = vecMul M.dModel (fun l => (x l + c l) + (y l + -c l)) W j := (vecMul_add M.dModel _ _ W j).symm
      _ = vecMul M.dModel (fun l => x l + y l) W j := vecMul_congr W j (fun l _ => ring (x l :: y l :: c l :: []))
      _ = vecMul M.dModel x W j + vecMul M.dModel y W j := vecMul_add M.dModel x y W j
  (Rule.circuit M n t o).trans (Rule.circuit.centre (M.circuits n) (M.centred n k z) n t o rfl rfl
    (fun x i =>
      (sum_add M.dHead _ _).symm.trans ((sum_congr (fun h _ =>
        (mul_add (M.query n (t n) h) _ _).symm.trans ((mul_congr rfl (both (M.E x) (M.P i) k M.WK h).symm).trans (mul_add _ _ _)))).trans (sum_add M.dHead _ _)))
    (fun x i =>
      (M.out_add _ _ o).symm.trans ((M.out_congr (fun h _ => (both (M.E x) (M.P i) z M.WV h).symm) o).trans (M.out_add _ _ o))))

/-! ## Products of factors -/

def matMul (d : Nat) (A B : Nat → Nat → F) (i j : Nat) : F := sum d (fun l => A i l * B l j)

/-- `chain A [(d₁, B₁), (d₂, B₂), ...]` is the product `A B₁ B₂ ...`, where `dᵢ` is the number of rows of `Bᵢ`. -/
def chain (A : Nat → Nat → F) : List (Nat × (Nat → Nat → F)) → Nat → Nat → F
  | [] => A
  | ⟨d, B⟩ :: rest => matMul d A (chain B rest)

def join {α : Type} : List α → List α → List α
  | [], l => l
  | x :: k, l => x :: join k l

theorem matMul_congr {d : Nat} {A A' B B' : Nat → Nat → F} {i j : Nat} (h : ∀ l, l < d → A i l = A' i l) (k : ∀ l, l < d → B l j = B' l j) :
    matMul d A B i j = matMul d A' B' i j := sum_congr (fun l hl => mul_congr (h l hl) (k l hl))
theorem matMul_assoc (d e : Nat) (A B C : Nat → Nat → F) (i j : Nat) :
    matMul d A (matMul e B C) i j = matMul e (matMul d A B) C i j :=
  calc sum d (fun l => A i l * sum e (fun m => B l m * C m j))
      = sum d (fun l => sum e (fun m => (A i l * B l m) * C m j)) :=
        sum_congr (fun l _ => (sum_mul_left e (A i l) _).symm.trans (sum_congr (fun m _ => (mul_assoc _ _ _).symm)))
    _ = sum e (fun m => sum d (fun l => (A i l * B l m) * C m j)) := sum_swap d e _
    _ = sum e (fun m => matMul d A B i m * C m j) := sum_congr (fun m _ => sum_mul_right d (C m j) _)
theorem chain_head (d : Nat) (A B : Nat → Nat → F) (i j : Nat) : (rest : List (Nat × (Nat → Nat → F))) →
    chain A (⟨d, B⟩ :: rest) i j = chain (matMul d A B) rest i j
  | [] => rfl
  | ⟨e, C⟩ :: rest => matMul_assoc d e A B (chain C rest) i j
theorem chain_tail {d e : Nat} {B B' : Nat → Nat → F} {r r' : List (Nat × (Nat → Nat → F))} (hd : d = e)
    (h : ∀ i j, chain B r i j = chain B' r' i j) : (l : List (Nat × (Nat → Nat → F))) → (A : Nat → Nat → F) → (i j : Nat) →
    chain A (join l (⟨d, B⟩ :: r)) i j = chain A (join l (⟨e, B'⟩ :: r')) i j
  | [], A, i, j => hd.rec (matMul_congr (fun _ _ => rfl) (fun l _ => h l j))
  | ⟨_, C⟩ :: l, A, i, j => matMul_congr (fun _ _ => rfl) (fun m _ => chain_tail hd h l C m j)

/-- **Rule `product`.** Two neighbouring factors may be replaced by their product, at the front or after any factors `A, l`. -/
theorem Rule.product (A : Nat → Nat → F) (l : List (Nat × (Nat → Nat → F))) (d e : Nat) (B C : Nat → Nat → F)
    (rest : List (Nat × (Nat → Nat → F))) (i j : Nat) :
    chain A (⟨d, B⟩ :: rest) i j = chain (matMul d A B) rest i j ∧
    chain A (join l (⟨d, B⟩ :: ⟨e, C⟩ :: rest)) i j = chain A (join l (⟨d, matMul e B C⟩ :: rest)) i j :=
  ⟨chain_head d A B i j rest, chain_tail rfl (fun i j => chain_head e B C i j rest) l A i j⟩

/-- The row vector `zᵀ B₁ B₂ ...`. -/
def rowChain (z : Nat → F) : List (Nat × (Nat → Nat → F)) → Nat → F
  | [] => z
  | ⟨d, B⟩ :: rest => vecMul d z (chain B rest)
/-- The column vector `A B₁ ... y`, where `y` has length `d`. -/
def colChain (d : Nat) (y : Nat → F) (A : Nat → Nat → F) : List (Nat × (Nat → Nat → F)) → Nat → F
  | [] => fun i => sum d (fun l => A i l * y l)
  | ⟨e, B⟩ :: rest => fun i => sum e (fun l => A i l * colChain d y B rest l)

theorem peel_head (y z : Nat → F) (A B : Nat → Nat → F) (h : ∀ i j, A i j = y i * z j + B i j) (i j : Nat) :
    (rest : List (Nat × (Nat → Nat → F))) → chain A rest i j = y i * rowChain z rest j + chain B rest i j
  | [] => h i j
  | ⟨d, C⟩ :: rest =>
    calc sum d (fun l => A i l * chain C rest l j)
        = sum d (fun l => y i * (z l * chain C rest l j) + B i l * chain C rest l j) :=
          sum_congr (fun l _ => (mul_congr (h i l) rfl).trans (ring (y i :: z l :: B i l :: chain C rest l j :: [])))
      _ = sum d (fun l => y i * (z l * chain C rest l j)) + sum d (fun l => B i l * chain C rest l j) := sum_add d _ _
      _ = y i * vecMul d z (chain C rest) j + matMul d B (chain C rest) i j := add_congr (sum_mul_left d (y i) _) rfl
theorem peel_tail (d : Nat) (y z : Nat → F) (A B : Nat → Nat → F) (h : ∀ i j, A i j = y i * z j + B i j) (rest : List (Nat × (Nat → Nat → F))) :
    (l : List (Nat × (Nat → Nat → F))) → (L : Nat → Nat → F) → (i j : Nat) →
    chain L (join l (⟨d, A⟩ :: rest)) i j = colChain d y L l i * rowChain z rest j + chain L (join l (⟨d, B⟩ :: rest)) i j
  | [], L, i, j =>
    calc sum d (fun l => L i l * chain A rest l j)
        = sum d (fun l => (L i l * y l) * rowChain z rest j + L i l * chain B rest l j) :=
          sum_congr (fun l _ => (mul_congr rfl (peel_head y z A B h l j rest)).trans
            (ring (L i l :: y l :: rowChain z rest j :: chain B rest l j :: [])))
      _ = sum d (fun l => (L i l * y l) * rowChain z rest j) + sum d (fun l => L i l * chain B rest l j) := sum_add d _ _
      _ = _ := add_congr (sum_mul_right d (rowChain z rest j) _) rfl
  | ⟨e, C⟩ :: l, L, i, j =>
    calc sum e (fun m => L i m * chain C (join l (⟨d, A⟩ :: rest)) m j)
        = sum e (fun m => (L i m * colChain d y C l m) * rowChain z rest j + L i m * chain C (join l (⟨d, B⟩ :: rest)) m j) :=
          sum_congr (fun m _ => (mul_congr rfl (peel_tail d y z A B h rest l C m j)).trans
            (ring (L i m :: colChain d y C l m :: rowChain z rest j :: chain C (join l (⟨d, B⟩ :: rest)) m j :: [])))
      _ = sum e (fun m => (L i m * colChain d y C l m) * rowChain z rest j)
            + sum e (fun m => L i m * chain C (join l (⟨d, B⟩ :: rest)) m j) := sum_add e _ _
      _ = _ := add_congr (sum_mul_right e (rowChain z rest j) _) rfl

/-- **Rule `peel`.** If a factor is `y zᵀ + B` (for *any* witnesses `y`, `z`: they are not trusted), then the product with that factor is
a column times a row plus the product with `B` in its place; the first line is for the first factor, the second for any later one. -/
theorem Rule.peel (d : Nat) (y z : Nat → F) (A B : Nat → Nat → F) (h : ∀ i j, A i j = y i * z j + B i j)
    (L : Nat → Nat → F) (l rest : List (Nat × (Nat → Nat → F))) (i j : Nat) :
    chain A rest i j = y i * rowChain z rest j + chain B rest i j ∧
    chain L (join l (⟨d, A⟩ :: rest)) i j = colChain d y L l i * rowChain z rest j + chain L (join l (⟨d, B⟩ :: rest)) i j :=
  ⟨peel_head y z A B h i j rest, peel_tail d y z A B h rest l L i j⟩

/-- The fact that the rules on circuits work with: `S` is an approximation plus a product of factors that are left. -/
def Factored (S approx A : Nat → Nat → F) (l : List (Nat × (Nat → Nat → F))) : Prop := ∀ i j, S i j = approx i j + chain A l i j

/-- **Rule `product`, on facts.** -/
theorem Rule.product.factored (S approx A B : Nat → Nat → F) (d : Nat) (rest : List (Nat × (Nat → Nat → F))) (h : Factored S approx A (⟨d, B⟩ :: rest)) :
    Factored S approx (matMul d A B) rest := fun i j => (h i j).trans (add_congr rfl (chain_head d A B i j rest))

/-- **Rule `peel`, on facts:** the rank-one term moves into the approximation, from the first factor or from any later one. -/
theorem Rule.peel.factored (S approx : Nat → Nat → F) (d : Nat) (y z : Nat → F) (A B : Nat → Nat → F) (h : ∀ i j, A i j = y i * z j + B i j)
    (L : Nat → Nat → F) (l rest : List (Nat × (Nat → Nat → F))) :
    (Factored S approx A rest → Factored S (fun i j => approx i j + y i * rowChain z rest j) B rest) ∧
    (Factored S approx L (join l (⟨d, A⟩ :: rest)) →
      Factored S (fun i j => approx i j + colChain d y L l i * rowChain z rest j) L (join l (⟨d, B⟩ :: rest))) :=
  ⟨fun k i j => (k i j).trans ((add_congr rfl (Rule.peel d y z A B h L l rest i j).left).trans (add_assoc _ _ _).symm),
   fun k i j => (k i j).trans ((add_congr rfl (Rule.peel d y z A B h L l rest i j).right).trans (add_assoc _ _ _).symm)⟩
end
end CompactProofs
