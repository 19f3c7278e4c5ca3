import Mathlib
/-!
# The architecture, the task and the claim, over the real numbers

This file is the same for every certificate. It has what is needed to say what a certificate claims, and nothing else: read it together with `Weights.lean`
and `Claim.lean`. Tokens, positions and outputs are natural numbers from 0; a function of them is used on the range of its sizes only.
-/
namespace CompactProofs.Export
noncomputable section

/-! ## The network: one layer, one head, attention only, learned positions, no normalisation -/

structure Network where
  d_model : ℕ
  d_head : ℕ
  /-- token, residual -/
  W_E : ℕ → ℕ → ℝ
  /-- position, residual -/
  W_pos : ℕ → ℕ → ℝ
  W_Q : ℕ → ℕ → ℝ
  W_K : ℕ → ℕ → ℝ
  W_V : ℕ → ℕ → ℝ
  W_O : ℕ → ℕ → ℝ
  /-- residual, output -/
  W_U : ℕ → ℕ → ℝ
  b_Q : ℕ → ℝ
  b_K : ℕ → ℝ
  b_V : ℕ → ℝ
  b_O : ℕ → ℝ
  b_U : ℕ → ℝ

/-- The residual stream of the token `x` at position `i`. -/
def Network.residual (N : Network) (i x l : ℕ) : ℝ := N.W_E x l + N.W_pos i l
def Network.query (N : Network) (i x h : ℕ) : ℝ := (Finset.range N.d_model).sum (fun l => N.residual i x l * N.W_Q l h) + N.b_Q h
def Network.key (N : Network) (i x h : ℕ) : ℝ := (Finset.range N.d_model).sum (fun l => N.residual i x l * N.W_K l h) + N.b_K h
def Network.value (N : Network) (i x h : ℕ) : ℝ := (Finset.range N.d_model).sum (fun l => N.residual i x l * N.W_V l h) + N.b_V h

/-- The score of position `i` for the last position `n`. An input is a function `t`: its tokens are `t 0`, ..., `t n`, and `t n` is the query. -/
def Network.score (N : Network) (n : ℕ) (t : ℕ → ℕ) (i : ℕ) : ℝ :=
  (Real.sqrt (Nat.cast N.d_head))⁻¹ * (Finset.range N.d_head).sum (fun h => N.query n (t n) h * N.key i (t i) h)

/-- The softmax of the numbers `s 0`, ..., `s n`. -/
def softmax (n : ℕ) (s : ℕ → ℝ) (i : ℕ) : ℝ := Real.exp (s i) / (Finset.range (Nat.succ n)).sum (fun j => Real.exp (s j))

def Network.attention (N : Network) (n : ℕ) (t : ℕ → ℕ) (i : ℕ) : ℝ := softmax n (N.score n t) i
/-- What the head reads: the average of the values. -/
def Network.head (N : Network) (n : ℕ) (t : ℕ → ℕ) (h : ℕ) : ℝ :=
  (Finset.range (Nat.succ n)).sum (fun i => N.attention n t i * N.value i (t i) h)
/-- The residual stream of the last position after the layer. -/
def Network.stream (N : Network) (n : ℕ) (t : ℕ → ℕ) (l : ℕ) : ℝ :=
  N.residual n (t n) l + ((Finset.range N.d_head).sum (fun h => N.head n t h * N.W_O h l) + N.b_O l)
/-- The logit of output `o` at the last position. -/
def Network.logit (N : Network) (n : ℕ) (t : ℕ → ℕ) (o : ℕ) : ℝ :=
  (Finset.range N.d_model).sum (fun l => N.stream n t l * N.W_U l o) + N.b_U o

/-! ## The task -/

/-- The largest (or smallest) of `length` tokens out of `0`, ..., `tokens - 1`. An input agrees with `start` from position `length` on: that is where an
end-of-sequence token stands, if there is one. The query is the last position. -/
structure Task where
  smallest : Bool
  length : ℕ
  tokens : ℕ
  /-- the position of the query -/
  last : ℕ
  start : ℕ → ℕ
  outputs : ℕ

/-- An input of the task. -/
def Task.Input (T : Task) (t : ℕ → ℕ) : Prop := (∀ i, i < T.length → t i < T.tokens) ∧ ∀ i, T.length ≤ i → t i = T.start i

/-- `x` is at most as good an answer as `m`. -/
def Task.Beats (T : Task) (m x : ℕ) : Prop := match T.smallest with
  | true => m ≤ x
  | false => x ≤ m
/-- `m` is the right answer on `t`: it is one of the tokens, and none is better. -/
def Task.Answer (T : Task) (t : ℕ → ℕ) (m : ℕ) : Prop := (Exists fun i => i < T.length ∧ t i = m) ∧ ∀ i, i < T.length → T.Beats m (t i)

/-- On `t` the logits `y` have a margin above `r`: the logit of the right answer exceeds every other one by more than `r`. With `r = 0` this says that
the answer is right, a tie being wrong. -/
def Task.Above (T : Task) (r : ℝ) (y : (ℕ → ℕ) → ℕ → ℝ) (t : ℕ → ℕ) : Prop :=
  ∀ m, T.Answer t m → ∀ o, o < T.outputs → o ≠ m → r < y t m - y t o

/-! ## Counting inputs, each with the product of the weights of its tokens -/

/-- The input `t` with the token `x` at position `n`. -/
def put (t : ℕ → ℕ) (n x i : ℕ) : ℕ := match Nat.beq i n with
  | true => x
  | false => t i
/-- The sum of `f` over all ways of filling the first `n` positions of `t` with tokens below `v`; the token `x` at position `i` has the weight `W i x`. -/
def sumInputs (W : ℕ → ℕ → ℕ) (v : ℕ) : ℕ → ((ℕ → ℕ) → ℕ) → (ℕ → ℕ) → ℕ
  | .zero, f, t => f t
  | .succ n, f, t => (Finset.range v).sum (fun x => W n x * sumInputs W v n f (put t n x))
/-- 1 if `P` holds, otherwise 0. -/
def indicator (P : Prop) : ℕ := Bool.toNat (@decide P (Classical.propDecidable P))
/-- The mass of the inputs that have the property `P`: their number, when all weights are 1. -/
def Task.mass (T : Task) (W : ℕ → ℕ → ℕ) (P : (ℕ → ℕ) → Prop) : ℕ := sumInputs W T.tokens T.length (fun t => indicator (P t)) T.start

/-! ## Numbers of a file: integers over one power of two -/

structure Tensor where
  /-- every number below stands for itself divided by two to this power -/
  denominator : ℕ
  rows : List (List ℤ)

/-- Entry `j` of a list, 0 beyond its end. -/
def entry {α : Type} (zero : α) : List α → ℕ → α
  | [], _ => zero
  | x :: _, .zero => x
  | _ :: l, .succ j => entry zero l j
/-- Row `i`, column `j`. -/
def Tensor.at (A : Tensor) (i j : ℕ) : ℝ := (Int.cast (entry 0 (entry [] A.rows i) j) : ℝ) / (2 : ℝ) ^ A.denominator
end
end CompactProofs.Export
