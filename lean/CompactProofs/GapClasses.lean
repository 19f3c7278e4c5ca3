import CompactProofs.Cubic
import CompactProofs.Rows
/-!
# The sub-cubic rule: `gap_classes`

A gap class is a class whose other tokens are at most `m - g`, that is below `b = m - g + 1`, and so is its query unless the query is `m`.
Write `a` for the total attention that a sequence pays to tokens equal to `m`. The rule bounds `a` from
approximate scores (attention extremes), and the margins from `a` (wrong-logit bound).
-/
namespace CompactProofs
noncomputable section
open ExpField (exp inv)
variable {F : Type} [ExpField F]

/-- The places that hold `m`. -/
def holds (m : Nat) (t : Nat → Nat) (i : Nat) : Bool := Nat.beq (t i) m
/-- The total attention paid to tokens equal to `m`. -/
def Circuits.attentionTo (C : Circuits F) (n : Nat) (t : Nat → Nat) (m : Nat) : F := sumOn (holds m t) (Nat.succ n) (C.attention n t)

theorem holds_eq {m : Nat} {t : Nat → Nat} {i : Nat} (h : holds m t i = true) : t i = m := beq_eq h
theorem holds_not {m : Nat} {t : Nat → Nat} {i : Nat} (h : not (holds m t i) = true) : t i ≠ m := fun e =>
  absurd (Eq.subst (motive := fun z => not z = true) (beq_of_eq e) h).symm true_ne_false

/-! ## Attention extremes -/

/-- The sums that the next two theorems compare: `A` is the token weight of `m`, `X` the place weight of the places that hold `m`, `Y` the
weight of all other places, `Z = A X + Y` the total weight. -/
theorem Circuits.attention_parts (C : Circuits F) (n : Nat) (t : Nat → Nat) (m : Nat) :
    let A := C.tokenWeight (t n) m
    let X := sumOn (holds m t) (Nat.succ n) (C.placeWeight (t n))
    let Y := sumOn (fun i => not (holds m t i)) (Nat.succ n) (fun i => C.weight (t n) i (t i))
    0 < A * X + Y ∧ (A * X + Y) * C.attentionTo n t m = A * X :=
  let q := t n
  let A := C.tokenWeight q m
  let X := sumOn (holds m t) (Nat.succ n) (C.placeWeight q)
  let w := fun i => C.weight q i (t i)
  let Z := sum (Nat.succ n) w
  have hZ : 0 < Z := sum_pos (fun i _ => C.weight_pos q i (t i))
  have mass : sumOn (holds m t) (Nat.succ n) w = A * X :=
    (sumOn_congr _ (fun i _ h => replace (holds_eq h) (fun x => C.weight q i x = A * C.placeWeight q i) (C.weight_eq q i m))).trans (sumOn_mul _ A (Nat.succ n) _)
  have split : Z = A * X + sumOn (fun i => not (holds m t i)) (Nat.succ n) w := (sumOn_split (holds m t) (Nat.succ n) w).trans (add_congr mass rfl)
  have att : Z * C.attentionTo n t m = A * X :=
    calc Z * C.attentionTo n t m = sumOn (holds m t) (Nat.succ n) (fun i => Z * (w i / Z)) := (sumOn_mul _ Z (Nat.succ n) _).symm
      _ = sumOn (holds m t) (Nat.succ n) w := sumOn_congr _ (fun i _ _ => div_mul hZ)
      _ = A * X := mass
  ⟨Eq.subst (motive := fun z => 0 < z) split hZ, Eq.subst (motive := fun z => z * C.attentionTo n t m = A * X) split att⟩

theorem attention_compare {A X Y T x e d a : F} (hA : 0 < A) (hZ : 0 < A * X + Y) (ha : (A * X + Y) * a = A * X)
    (hd : 0 < d) (hde : d = x * e + (T - x)) :
    (0 ≤ x → x ≤ X → 0 ≤ T → e * Y ≤ A * (T - X) → x * e / d ≤ a) ∧ (0 ≤ x → X ≤ x → 0 ≤ T → A * (T - X) ≤ e * Y → a ≤ x * e / d) :=
  let Z := A * X + Y
  have both : ∀ u, (d * Z) * (u / d) = Z * u := fun u =>
    (calc (d * Z) * (u / d) = Z * (d * (u / d)) := ring (d :: Z :: u / d :: [])
      _ = Z * u := mul_congr rfl (div_mul hd))
  have other : (d * Z) * a = d * (A * X) := (mul_assoc _ _ _).trans (mul_congr rfl ha)
  have identity : d * (A * X) - Z * (x * e) = (A * T) * (X - x) + x * (A * (T - X) - e * Y) :=
    (sub_congr (mul_congr hde rfl) rfl).trans
      (show (x * e + (T - x)) * (A * X) - (A * X + Y) * (x * e) = (A * T) * (X - x) + x * (A * (T - X) - e * Y) from
        ring (x :: e :: T :: A :: X :: Y :: []))
  ⟨fun hx hxX hT hY => le_of_mul_le_mul (mul_pos hd hZ)
    (calc (d * Z) * (x * e / d) = Z * (x * e) := both _
      _ ≤ d * (A * X) := le_of (add_nonneg (mul_nonneg (mul_nonneg (le_of_lt hA) hT) (sub_nonneg hxX)) (mul_nonneg hx (sub_nonneg hY))) identity
      _ = (d * Z) * a := other.symm),
   fun hx hXx hT hY => le_of_mul_le_mul (mul_pos hd hZ)
    (calc (d * Z) * a = d * (A * X) := other
      _ ≤ Z * (x * e) := le_of (add_nonneg (mul_nonneg (mul_nonneg (le_of_lt hA) hT) (sub_nonneg hXx)) (mul_nonneg hx (sub_nonneg hY)))
          (calc Z * (x * e) - d * (A * X) = -(d * (A * X) - Z * (x * e)) := ring (Z :: x * e :: d :: A * X :: [])
            _ = -((A * T) * (X - x) + x * (A * (T - X) - e * Y)) := neg_congr identity
            _ = (A * T) * (x - X) + x * (e * Y - A * (T - X)) := ring (A :: T :: X :: x :: e :: Y :: []))
      _ = (d * Z) * (x * e / d) := (both _).symm)⟩

/-- **Rule `gap_classes`, least attention.** Let every token of the sequence other than `m` have a score so far below that of `m` that its
weight is at most `1/e` of that of `m`; let the places that hold `m` have a total place weight of at least `x`, and the other places one of
at most `y`. Then the
attention to `m` is at least `x e / (x e + y)`. -/
theorem Rule.gap_classes.attention_min (C : Circuits F) (n : Nat) (t : Nat → Nat) (m : Nat) (x y e : F) (hx0 : 0 ≤ x)
    (hx : x ≤ sumOn (holds m t) (Nat.succ n) (C.placeWeight (t n)))
    (hy : sumOn (fun i => not (holds m t i)) (Nat.succ n) (C.placeWeight (t n)) ≤ y)
    (he : ∀ i, i < Nat.succ n → t i ≠ m → e * C.tokenWeight (t n) (t i) ≤ C.tokenWeight (t n) m)
    (hd : 0 < x * e + y) : x * e / (x * e + y) ≤ C.attentionTo n t m :=
  let q := t n
  let b := C.placeWeight q
  let A := C.tokenWeight q m
  let J := fun i => not (holds m t i)
  let X := sumOn (holds m t) (Nat.succ n) b
  let R := sumOn J (Nat.succ n) b
  let Y := sumOn J (Nat.succ n) (fun i => C.weight q i (t i))
  let d := x * e + y
  let a := C.attentionTo n t m
  have parts := C.attention_parts n t m
  have hR : 0 ≤ R := sumOn_nonneg J (fun i _ => exp_nonneg _)
  have hY : e * Y ≤ A * R :=
    calc e * Y = sumOn J (Nat.succ n) (fun i => e * C.weight q i (t i)) := (sumOn_mul J e (Nat.succ n) _).symm
      _ ≤ sumOn J (Nat.succ n) (fun i => A * b i) := sumOn_le J (fun i hi hJ =>
          calc e * C.weight q i (t i) = (e * C.tokenWeight q (t i)) * b i := (mul_congr rfl (C.weight_eq q i (t i))).trans (mul_assoc _ _ _).symm
            _ ≤ A * b i := mul_le_mul_right (he i hi (holds_not hJ)) (exp_nonneg _))
      _ = A * R := sumOn_mul J A (Nat.succ n) b
  have cross : x * R ≤ X * y := mul_le_mul hx hy hx0 (le_trans hR hy)
  le_of_mul_le_mul (mul_pos hd parts.left)
    (calc (d * (A * X + Y)) * (x * e / d) = (A * X + Y) * (d * (x * e / d)) := ring (d :: A :: X :: Y :: x * e / d :: [])
      _ = (A * X + Y) * (x * e) := mul_congr rfl (div_mul hd)
      _ ≤ d * (A * X) := le_of (add_nonneg (mul_nonneg (exp_nonneg _) (sub_nonneg cross)) (mul_nonneg hx0 (sub_nonneg hY)))
          (show (x * e + y) * (A * X) - (A * X + Y) * (x * e) = A * (X * y - x * R) + x * (A * R - e * Y) from ring (x :: e :: y :: A :: X :: Y :: R :: []))
      _ = d * ((A * X + Y) * a) := mul_congr rfl parts.right.symm
      _ = (d * (A * X + Y)) * a := (mul_assoc _ _ _).symm)

/-- **Rule `gap_classes`, greatest attention:** the same from above. -/
theorem Rule.gap_classes.attention_max (C : Circuits F) (n : Nat) (t : Nat → Nat) (m : Nat) (x e : F)
    (hx : sumOn (holds m t) (Nat.succ n) (C.placeWeight (t n)) ≤ x)
    (he : ∀ i, i < Nat.succ n → t i ≠ m → C.tokenWeight (t n) m ≤ e * C.tokenWeight (t n) (t i))
    (hd : 0 < x * e + (sum (Nat.succ n) (C.placeWeight (t n)) - x)) :
    C.attentionTo n t m ≤ x * e / (x * e + (sum (Nat.succ n) (C.placeWeight (t n)) - x)) :=
  let q := t n
  let b := C.placeWeight q
  let A := C.tokenWeight q m
  let J := fun i => not (holds m t i)
  have parts := C.attention_parts n t m
  have hx0 : 0 ≤ x := le_trans (sumOn_nonneg (holds m t) (fun i _ => exp_nonneg _)) hx
  have rest : sumOn J (Nat.succ n) b = sum (Nat.succ n) b - sumOn (holds m t) (Nat.succ n) b :=
    calc sumOn J (Nat.succ n) b = (sumOn (holds m t) (Nat.succ n) b + sumOn J (Nat.succ n) b) - sumOn (holds m t) (Nat.succ n) b :=
          ring (sumOn (holds m t) (Nat.succ n) b :: sumOn J (Nat.succ n) b :: [])
      _ = _ := sub_congr (sumOn_split (holds m t) (Nat.succ n) b).symm rfl
  have hY : A * (sum (Nat.succ n) b - sumOn (holds m t) (Nat.succ n) b) ≤ e * sumOn J (Nat.succ n) (fun i => C.weight q i (t i)) :=
    calc A * (sum (Nat.succ n) b - sumOn (holds m t) (Nat.succ n) b) = A * sumOn J (Nat.succ n) b := mul_congr rfl rest.symm
      _ = sumOn J (Nat.succ n) (fun i => A * b i) := (sumOn_mul J A (Nat.succ n) b).symm
      _ ≤ sumOn J (Nat.succ n) (fun i => e * C.weight q i (t i)) := sumOn_le J (fun i hi hJ =>
          calc A * b i ≤ (e * C.tokenWeight q (t i)) * b i := mul_le_mul_right (he i hi (holds_not hJ)) (exp_nonneg _)
            _ = e * C.weight q i (t i) := (mul_assoc _ _ _).trans (mul_congr rfl (C.weight_eq q i (t i)).symm))
      _ = e * sumOn J (Nat.succ n) (fun i => C.weight q i (t i)) := sumOn_mul J e (Nat.succ n) _
  (attention_compare (exp_pos _) parts.left parts.right hd rfl).right hx0 hx (sum_nonneg (fun _ _ => exp_nonneg _)) hY

theorem one_not (b : Bool) : one b + one (not b) = 1 := match b with
  | true => rfl
  | false => rfl
theorem chosen_split (J : Nat → Bool) : (n : Nat) → chosen J n + chosen (fun i => not (J i)) n = n
  | .zero => rfl
  | .succ n => (nat_add_add_add_comm (chosen J n) (one (J n)) (chosen (fun i => not (J i)) n) (one (not (J n)))).trans
      (nat_add_congr (chosen_split J n) (one_not (J n)))

/-- **Rule `gap_classes`, place weights:** the free places that hold `m` are `n - c` in number, the others `c`; the query's place belongs to the former if the query is `m`, else to the latter. (`low` and `high` come from the sorted place weights, by
`Rule.pure_sequences.extremes`.) -/
theorem Rule.gap_classes.place_weights (k : Class) (n : Nat) (b : Nat → F) (low high : F) (hlow : ∀ J, chosen J n + k.c = n → low ≤ sumOn J n b)
    (hhigh : ∀ J, chosen J n = k.c → sumOn J n b ≤ high) (t : Nat → Nat) (ht : k.has n t = true) :
    (k.q = k.m → low + b n ≤ sumOn (holds k.m t) (Nat.succ n) b ∧ sumOn (fun i => not (holds k.m t i)) (Nat.succ n) b ≤ high) ∧
    (k.q ≠ k.m → low ≤ sumOn (holds k.m t) (Nat.succ n) b ∧ sumOn (fun i => not (holds k.m t i)) (Nat.succ n) b ≤ high + b n) :=
  have hq : t n = k.q := beq_eq (both_left ht)
  have spec := (mixed_spec k.good k.m n k.c t (both_right ht)).right
  have l : low ≤ sumOn (holds k.m t) n b := hlow (holds k.m t) ((nat_add_congr rfl spec.symm).trans (chosen_split (holds k.m t) n))
  have h : sumOn (fun i => not (holds k.m t i)) n b ≤ high := hhigh (fun i => not (holds k.m t i)) spec
  ⟨fun e =>
    have at_n : holds k.m t n = true := beq_of_eq (hq.trans e)
    ⟨replace at_n (fun z => low + b n ≤ sumOn (holds k.m t) n b + pick z (b n)) (add_le_add_right l (b n)),
     replace at_n (fun z => sumOn (fun i => not (holds k.m t i)) n b + pick (not z) (b n) ≤ high) (le_trans (le_of_eq (add_zero _)) h)⟩,
   fun ne =>
    have at_n : holds k.m t n = false := beq_false (fun e => ne (hq.symm.trans e))
    ⟨replace at_n (fun z => low ≤ sumOn (holds k.m t) n b + pick z (b n)) (le_trans l (le_of_eq (add_zero _).symm)),
     replace at_n (fun z => sumOn (fun i => not (holds k.m t i)) n b + pick (not z) (b n) ≤ high + b n) (add_le_add_right h (b n))⟩⟩

/-- **Rule `gap_classes`, from scores to weights.** If the score of `m` exceeds that of token `x` by at least `δ`, then `exp (scale δ)`
times the weight of `x` is at most the weight of `m`; with `δ` from an admissible pair (`admissible` in `Rows.lean`) this is the
hypothesis of `attention_min`. -/
theorem Rule.gap_classes.weight_ratio (C : Circuits F) (hs : 0 ≤ C.scale) (q m x : Nat) (δ : F) :
    (δ ≤ C.EQKE q m - C.EQKE q x → exp (C.scale * δ) * C.tokenWeight q x ≤ C.tokenWeight q m) ∧
    (C.EQKE q m - C.EQKE q x ≤ δ → C.tokenWeight q m ≤ exp (C.scale * δ) * C.tokenWeight q x) :=
  have e : exp (C.scale * δ) * C.tokenWeight q x = exp (C.scale * δ + C.scale * C.EQKE q x) := (exp_add _ _).symm
  ⟨fun h => le_trans (le_of_eq e) (exp_le_exp (le_of (mul_nonneg hs (sub_nonneg h)) (ring (C.scale :: δ :: C.EQKE q x :: C.EQKE q m :: [])))),
   fun h => le_trans (exp_le_exp (le_of (mul_nonneg hs (sub_nonneg h)) (ring (C.scale :: δ :: C.EQKE q x :: C.EQKE q m :: [])))) (le_of_eq e.symm)⟩

/-! ## The wrong-logit bound -/

/-- **Rule `gap_classes`, wrong-logit bound** (the role of the paper's Theorem 15: values and attention are pessimised separately). With `u`
a bound of the direct path, `p` of the positions, and `W` of the differences of the tokens
other than `m`, the margin of output `o` is at most `u + p + a V + (1 - a) W`, where `V` is the difference for the token `m` itself. -/
theorem Rule.gap_classes.wrong_logit (C : Circuits F) (n : Nat) (t : Nat → Nat) (o m : Nat) (u p W : F)
    (hu : C.EU (t n) o - C.EU (t n) m ≤ u) (hp : ∀ i, i < Nat.succ n → C.PVOU i o - C.PVOU i m ≤ p)
    (hW : ∀ i, i < Nat.succ n → t i ≠ m → C.EVOU (t i) o - C.EVOU (t i) m ≤ W) :
    C.logit n t o - C.logit n t m ≤ (u + p) + (C.attentionTo n t m * (C.EVOU m o - C.EVOU m m) + (1 - C.attentionTo n t m) * W) :=
  let α := C.attention n t
  let V := C.EVOU m o - C.EVOU m m
  let H := holds m t
  let J := fun i => not (H i)
  let c := fun i => C.diff (t n) i (t i) o m
  let a := C.attentionTo n t m
  have pos : ∀ i, i < Nat.succ n → 0 < C.weight (t n) i (t i) := fun i _ => C.weight_pos (t n) i (t i)
  have nn : ∀ i, i < Nat.succ n → 0 ≤ α i := fun i hi => softmax_nonneg pos i hi
  have total : sum (Nat.succ n) α = 1 := softmax_total pos
  have one : a + sumOn J (Nat.succ n) α = 1 := (sumOn_split H (Nat.succ n) α).symm.trans total
  have rest : sumOn J (Nat.succ n) α = 1 - a :=
    calc sumOn J (Nat.succ n) α = (a + sumOn J (Nat.succ n) α) - a := ring (a :: sumOn J (Nat.succ n) α :: [])
      _ = 1 - a := sub_congr one rfl
  have onH : sumOn H (Nat.succ n) (fun i => α i * c i) ≤ a * ((u + p) + V) :=
    le_trans (sumOn_le H (fun i hi h => mul_le_mul_left
      (calc c i ≤ u + (V + p) := add_le_add hu (add_le_add (replace (holds_eq h) (fun x => C.EVOU x o - C.EVOU x m ≤ V) (le_refl V)) (hp i hi))
        _ = (u + p) + V := ring (u :: V :: p :: [])) (nn i hi))) (le_of_eq (sumOn_mul_right H _ (Nat.succ n) α))
  have onJ : sumOn J (Nat.succ n) (fun i => α i * c i) ≤ (1 - a) * ((u + p) + W) :=
    le_trans (sumOn_le J (fun i hi h => mul_le_mul_left
      (calc c i ≤ u + (W + p) := add_le_add hu (add_le_add (hW i hi (holds_not h)) (hp i hi))
        _ = (u + p) + W := ring (u :: W :: p :: [])) (nn i hi)))
      (le_of_eq ((sumOn_mul_right J _ (Nat.succ n) α).trans (mul_congr rest rfl)))
  calc C.logit n t o - C.logit n t m = sum (Nat.succ n) (fun i => α i * c i) := C.margin_eq n t o m
    _ = sumOn H (Nat.succ n) (fun i => α i * c i) + sumOn J (Nat.succ n) (fun i => α i * c i) := sumOn_split H (Nat.succ n) _
    _ ≤ a * ((u + p) + V) + (1 - a) * ((u + p) + W) := add_le_add onH onJ
    _ = (u + p) + (a * V + (1 - a) * W) := ring (a :: u :: p :: V :: W :: [])

/-- The value of the repaired "mean+diff" combination at attention `e`, with pivot `ā`: `G + max_o (L o + ā V o) + (1 - e) W + (e - ā) s`,
where `s` must be the largest `V o` if `e ≥ ā`, and the **smallest** if `e ≤ ā`. -/
def pivotValue (G H W pivot e s : F) : F := G + ((H + (1 - e) * W) + (e - pivot) * s)

/-- **Rule `gap_classes`, any pivot** (the mean+diff trick of the paper's Appendix G.1, repaired): for every output, the value with any
pivot is at least the true bound at attention `e`. -/
theorem Rule.gap_classes.pivot (G H W pivot e s L V R r : F) (hH : L + pivot * V ≤ H) (hR : V ≤ R) (hr : r ≤ V)
    (hs : (pivot ≤ e ∧ s = R) ∨ (e ≤ pivot ∧ s = r)) : G + (L + (e * V + (1 - e) * W)) ≤ pivotValue G H W pivot e s :=
  have shift : (e - pivot) * V ≤ (e - pivot) * s := hs.elim
    (fun k => replace k.right (fun s => (e - pivot) * V ≤ (e - pivot) * s) (mul_le_mul_left hR (sub_nonneg k.left)))
    (fun k => replace k.right (fun s => (e - pivot) * V ≤ (e - pivot) * s)
      (le_of (mul_nonneg (sub_nonneg k.left) (sub_nonneg hr)) (ring (e :: pivot :: V :: r :: []))))
  le_of (add_nonneg (sub_nonneg hH) (sub_nonneg shift))
    (show (G + ((H + (1 - e) * W) + (e - pivot) * s)) - (G + (L + (e * V + (1 - e) * W))) = (H - (L + pivot * V)) + ((e - pivot) * s - (e - pivot) * V) from
      ring (G :: H :: W :: pivot :: e :: s :: L :: V :: []))

/-- **Rule `gap_classes`, chords.** `max_o (L o + a V o)` is convex in `a`, so between two nodes `α ≤ e ≤ β` it lies below its chord: if
`A`, `B` bound it at the nodes and the chord's value at `e` (times `β - α`) is negative together with the rest, then the bound of every
output is negative at `e`. -/
theorem Rule.gap_classes.chord (G W e α β A B L V : F) (hα : α ≤ e) (hβ : e ≤ β) (hαβ : α < β) (hA : L + α * V ≤ A) (hB : L + β * V ≤ B)
    (h : ((β - e) * A + (e - α) * B) + (β - α) * (G + (1 - e) * W) < 0) : (G + L) + (e * V + (1 - e) * W) < 0 :=
  have below : (β - α) * ((G + L) + (e * V + (1 - e) * W)) ≤ ((β - e) * A + (e - α) * B) + (β - α) * (G + (1 - e) * W) :=
    le_of (add_nonneg (mul_nonneg (sub_nonneg hβ) (sub_nonneg hA)) (mul_nonneg (sub_nonneg hα) (sub_nonneg hB)))
      (ring (α :: β :: e :: A :: B :: G :: W :: L :: V :: []))
  (neg_iff (sub_pos hαβ) rfl).mpr (lt_of_le_of_lt below h)

/-- **Rule `gap_classes`, which attentions to test.** The bound `L + a V + (1 - a) W` is affine in `a`. It is negative for all `a` between
`lo` and `hi` if it is negative at both ends; if `V ≤ W` the lower end alone suffices. -/
theorem Rule.gap_classes.ends (L V W lo hi a : F) (hl : lo ≤ a) (hh : a ≤ hi) (kl : L + (lo * V + (1 - lo) * W) < 0)
    (kh : V ≤ W ∨ L + (hi * V + (1 - hi) * W) < 0) : L + (a * V + (1 - a) * W) < 0 :=
  have shape : ∀ e, L + (e * V + (1 - e) * W) = (L + W) + (V - W) * e := fun e => ring (L :: e :: V :: W :: [])
  kh.elim
    (fun h => lt_of_le_of_lt (le_of (mul_nonneg (sub_nonneg hl) (sub_nonneg h)) (ring (L :: lo :: a :: V :: W :: []))) kl)
    (fun k => replace (shape a) (fun z => z < 0) (linear_neg hl hh (replace (shape lo).symm (fun z => z < 0) kl) (replace (shape hi).symm (fun z => z < 0) k)))

/-- **Rule `gap_classes`, the published combination is not a bound.** As published, the largest value `R` of `V` is used on both sides of
the mean attention (the pivot). Here are two queries with attentions
`a < a'` (both at most 1 and positive), two outputs and `R < W`, such that the published value for the first query, `max_o (L o + ā V o) +
(1 - ā) W + (a - ā) (R - W)`, is negative, although the bound that it must dominate, `L 1 + a V 1 + (1 - a) W`,
is positive. (Both numbers are exact: the maxima are attained.) -/
theorem Rule.gap_classes.published_unsound : Exists fun L : Nat → F => Exists fun V : Nat → F => Exists fun W : F => Exists fun R : F => Exists fun H : F => Exists fun a : F => Exists fun a' : F =>
    Exists fun pivot : F => (0 < a ∧ a < a' ∧ a' ≤ 1 ∧ pivot + pivot = a + a') ∧ (V 1 ≤ R ∧ V 0 = R ∧ R < W) ∧ (L 0 + pivot * V 0 ≤ H ∧ L 1 + pivot * V 1 = H) ∧
    (H + (1 - pivot) * W) + (a - pivot) * (R - W) < 0 ∧ 0 < L 1 + (a * V 1 + (1 - a) * W) :=
  let h : F := half
  let two : F := 1 + 1
  let four : F := two * two
  let sixteen : F := four * four
  have hh : h + h = 1 := (add_congr (mul_one h).symm (mul_one h).symm).trans (half_add_half 1)
  have hpos : 0 < h := inv_pos two_pos
  have two0 : 0 ≤ two := le_of_lt two_pos
  have sq : h = h * h + h * h := calc h = h * 1 := (mul_one h).symm
    _ = h * (h + h) := mul_congr rfl hh.symm
    _ = h * h + h * h := mul_add h h h
  have s16 : 0 ≤ sixteen := mul_nonneg (mul_nonneg two0 two0) (mul_nonneg two0 two0)
  have hh0 : 0 ≤ h * h := square_nonneg h
  let L : Nat → F := fun o => match o with
    | .zero => -(sixteen * (h * h))
    | .succ _ => sixteen * h
  let V : Nat → F := fun o => match o with
    | .zero => 0
    | .succ _ => -sixteen
  ⟨L, V, 1, 0, -(sixteen * (h * h)), h, 1, h + h * h,
   ⟨hpos, lt_of hpos (calc (1 : F) - h = (h + h) - h := sub_congr hh.symm rfl
      _ = h := ring (h :: [])), le_refl 1,
     calc (h + h * h) + (h + h * h) = (h + (h * h + h * h)) + h := ring (h :: [])
       _ = (h + h) + h := add_congr (add_congr rfl sq.symm) rfl
       _ = 1 + h := add_congr hh rfl
       _ = h + 1 := add_comm _ _⟩,
   ⟨show -sixteen ≤ 0 from le_of s16 (ring (sixteen :: [])), rfl, zero_lt_one⟩,
   ⟨show -(sixteen * (h * h)) + (h + h * h) * 0 ≤ -(sixteen * (h * h)) from le_of_eq (ring (sixteen :: h :: [])),
    show sixteen * h + (h + h * h) * -sixteen = -(sixteen * (h * h)) from ring (sixteen :: h :: [])⟩,
   lt_of (a := (-(sixteen * (h * h)) + (1 - (h + h * h)) * 1) + (h - (h + h * h)) * (0 - 1)) (b := 0)
     (x := (sixteen * (h * h) - (h * h + h * h)))
     (pos_of (mul_pos (add_pos (add_pos two_pos two0) (mul_nonneg two0 (add_nonneg (add_nonneg two0 two0) zero_le_one))) (mul_pos hpos hpos))
       (show sixteen * (h * h) - (h * h + h * h) = ((two + two) + two * ((two + two) + 1)) * (h * h) from ring (h :: [])))
     (calc 0 - ((-(sixteen * (h * h)) + (1 - (h + h * h)) * 1) + (h - (h + h * h)) * (0 - 1))
         = (sixteen * (h * h) + h) - 1 := ring (sixteen :: h :: [])
       _ = (sixteen * (h * h) + h) - (h + h) := sub_congr rfl hh.symm
       _ = sixteen * (h * h) - h := ring (sixteen :: h :: [])
       _ = sixteen * (h * h) - (h * h + h * h) := sub_congr rfl sq),
   show 0 < sixteen * h + (h * -sixteen + (1 - h) * 1) from
     pos_of hpos (calc sixteen * h + (h * -sixteen + (1 - h) * 1) = 1 - h := ring (sixteen :: h :: [])
       _ = (h + h) - h := sub_congr hh.symm rfl
       _ = h := ring (h :: []))⟩

/-! ## The rule -/

/-- **Rule `gap_classes`** (the paper's Appendix F). For one class (with at least one other token, or a query below `m`): `x` bounds the
place weight of the places that hold `m` from below and `y` that of the others from above, every other token weighs at most `1/e` as much as
`m`, and `lo` is at most the resulting attention `x e / (x e + y)`.
If the wrong-logit bound `G + L o + a V o + (1 - a) W` is negative for every output `o` at `a = lo` and, unless `V o ≤ W`, at `a = 1`, the
model is right on every sequence of the class. That it is negative at these attentions follows from `chord` or from `pivot`. -/
theorem Rule.gap_classes (C : Circuits F) (O n : Nat) (r : F) (k : Class)
    (x y e lo G W : F) (L : Nat → F)
    -- the direct path and the positions, per output; the other tokens (good ones, and the query unless it is `m`)
    (hL : ∀ o, o < O → o ≠ k.m → ∀ i, i < Nat.succ n → ((C.EU k.q o - C.EU k.q k.m) + r) + (C.PVOU i o - C.PVOU i k.m) ≤ G + L o)
    (hW : ∀ o, o < O → o ≠ k.m → ∀ z, k.good z = true ∨ z = k.q → z ≠ k.m → C.EVOU z o - C.EVOU z k.m ≤ W)
    -- the attention
    (hx0 : 0 ≤ x) (hx : ∀ t, k.has n t = true → x ≤ sumOn (holds k.m t) (Nat.succ n) (C.placeWeight k.q))
    (hy : ∀ t, k.has n t = true → sumOn (fun i => not (holds k.m t i)) (Nat.succ n) (C.placeWeight k.q) ≤ y)
    (he : ∀ z, k.good z = true ∨ z = k.q → z ≠ k.m → e * C.tokenWeight k.q z ≤ C.tokenWeight k.q k.m)
    (hd : 0 < x * e + y) (hlo : lo ≤ x * e / (x * e + y))
    -- the bound at `lo` and, where needed, at 1
    (hleast : ∀ o, o < O → o ≠ k.m → (G + L o) + (lo * (C.EVOU k.m o - C.EVOU k.m k.m) + (1 - lo) * W) < 0)
    (hone : ∀ o, o < O → o ≠ k.m → C.EVOU k.m o - C.EVOU k.m k.m ≤ W ∨ (G + L o) + (1 * (C.EVOU k.m o - C.EVOU k.m k.m) + (1 - 1) * W) < 0)
    (t : Nat → Nat) (ht : k.has n t = true) : C.Correct O n r t k.m :=
  fun o ho hne =>
  have hq : t n = k.q := beq_eq (both_left ht)
  have spec := mixed_spec k.good k.m n k.c t (both_right ht)
  have other : ∀ i, i < Nat.succ n → t i ≠ k.m → k.good (t i) = true ∨ t i = k.q := fun i hi ne => (lt_or_eq_of_lt_succ hi).elim
    (fun hi => (spec.left i hi).elim (fun h => absurd h ne) (fun g => .inl g.right))
    (fun h => .inr (replace h (fun i => t i = k.q) hq))
  let V := C.EVOU k.m o - C.EVOU k.m k.m
  let a := C.attentionTo n t k.m
  have att : lo ≤ a := le_trans hlo
    (Rule.gap_classes.attention_min C n t k.m x y e hx0
      (replace hq (fun q => x ≤ sumOn (holds k.m t) (Nat.succ n) (C.placeWeight q)) (hx t ht))
      (replace hq (fun q => sumOn (fun i => not (holds k.m t i)) (Nat.succ n) (C.placeWeight q) ≤ y) (hy t ht))
      (fun i hi ne => replace hq (fun q => e * C.tokenWeight q (t i) ≤ C.tokenWeight q k.m) (he (t i) (other i hi ne) ne)) hd)
  have att1 : a ≤ 1 :=
    have pos : ∀ i, i < Nat.succ n → 0 < C.weight (t n) i (t i) := fun i _ => C.weight_pos (t n) i (t i)
    have nonneg : 0 ≤ sumOn (fun i => not (holds k.m t i)) (Nat.succ n) (C.attention n t) := sumOn_nonneg _ (fun i hi => softmax_nonneg pos i hi)
    le_of nonneg
      (calc 1 - a = sum (Nat.succ n) (C.attention n t) - a := sub_congr (softmax_total pos).symm rfl
        _ = (a + sumOn (fun i => not (holds k.m t i)) (Nat.succ n) (C.attention n t)) - a := sub_congr (sumOn_split _ _ _) rfl
        _ = _ := ring (a :: sumOn (fun i => not (holds k.m t i)) (Nat.succ n) (C.attention n t) :: []))
  let p := (G + L o) - ((C.EU k.q o - C.EU k.q k.m) + r)
  have hp : ∀ i, i < Nat.succ n → C.PVOU i o - C.PVOU i k.m ≤ p := fun i hi =>
    le_of (sub_nonneg (hL o ho hne i hi)) (ring (C.EU k.q o :: C.EU k.q k.m :: r :: C.PVOU i o :: C.PVOU i k.m :: G :: L o :: []))
  have bound : C.logit n t o - C.logit n t k.m ≤ ((C.EU k.q o - C.EU k.q k.m) + p) + (a * V + (1 - a) * W) :=
    Rule.gap_classes.wrong_logit C n t o k.m (C.EU k.q o - C.EU k.q k.m) p W (replace hq (fun q => C.EU q o - C.EU q k.m ≤ C.EU k.q o - C.EU k.q k.m) (le_refl _)) hp
      (fun i hi ne => hW o ho hne (t i) (other i hi ne) ne)
  calc (C.logit n t o - C.logit n t k.m) + r
      ≤ (((C.EU k.q o - C.EU k.q k.m) + p) + (a * V + (1 - a) * W)) + r := add_le_add_right bound r
    _ = (G + L o) + (a * V + (1 - a) * W) :=
      show (((C.EU k.q o - C.EU k.q k.m) + ((G + L o) - ((C.EU k.q o - C.EU k.q k.m) + r))) + (a * V + (1 - a) * W)) + r = (G + L o) + (a * V + (1 - a) * W) from
      ring (C.EU k.q o :: C.EU k.q k.m :: G :: L o :: r :: a :: V :: W :: [])
    _ < 0 := Rule.gap_classes.ends (G + L o) V W lo 1 a att att1 (hleast o ho hne) (hone o ho hne)

/-- **Rule `gap_classes`, only the maximum.** When all tokens are `m`, the attention is 1 and the exact row of the direct path is used. -/
theorem Rule.gap_classes.constant (C : Circuits F) (O n : Nat) (r : F) (m : Nat)
    (h : ∀ o, o < O → o ≠ m → ∀ i, i < Nat.succ n → C.term r m i m o m < 0) (t : Nat → Nat) (ht : ∀ i, i < Nat.succ n → t i = m) : C.Correct O n r t m :=
  fun o ho hne =>
  (Rule.margins C n t o m r 1 (fun i => C.weight (t n) i (t i)) zero_lt_one (fun i _ => (one_mul _).symm)).left.mpr
    (have each : ∀ i, i < Nat.succ n → 0 < C.weight (t n) i (t i) * (0 - C.term r (t n) i (t i) o m) := fun i hi =>
      mul_pos (C.weight_pos _ _ _) (sub_pos (replace (ht n (lt_succ_self n)) (fun q => C.term r q i (t i) o m < 0) (replace (ht i hi) (fun x => C.term r m i x o m < 0) (h o ho hne i hi))))
    have e : sum (Nat.succ n) (fun i => C.weight (t n) i (t i) * (0 - C.term r (t n) i (t i) o m)) = 0 - sum (Nat.succ n) (fun i => C.weight (t n) i (t i) * C.term r (t n) i (t i) o m) :=
      calc sum (Nat.succ n) (fun i => C.weight (t n) i (t i) * (0 - C.term r (t n) i (t i) o m))
          = sum (Nat.succ n) (fun i => 0 - C.weight (t n) i (t i) * C.term r (t n) i (t i) o m) := sum_congr (fun i _ => ring (C.weight (t n) i (t i) :: C.term r (t n) i (t i) o m :: []))
        _ = sum (Nat.succ n) (fun _ => (0 : F)) - sum (Nat.succ n) (fun i => C.weight (t n) i (t i) * C.term r (t n) i (t i) o m) := sum_sub _ _ _
        _ = _ := sub_congr (sum_zero _) rfl
    lt_of (pos_of (sum_pos each) e.symm) rfl)

/-- **Rule `gap_classes`, class size:** `binom(n, c) * (m - g + 1)^c` with `b = m - g + 1`, for a class with `c` other tokens among the free
places. -/
theorem Rule.gap_classes.size (v n q m c b : Nat) (hb : b ≤ m) (hm : m < v) (hq : q < v) (hqm : q ≤ m) (hc : q = m ∨ c < n) (t : Nat → Nat) :
    count v (Nat.succ n) (Class.has ⟨q, m, c, fun x => blt x b⟩ n) t = binom n c * pow b c :=
  have valid : Class.Valid ⟨q, m, c, fun x => blt x b⟩ v n := ⟨hq, hm, fun x hx => nat_lt_of_lt_of_le (blt_lt hx) hb, hqm, hc⟩
  (Class.count_eq valid t).trans (replace (sizeOf_below (nat_le_trans hb (nat_le_of_lt hm))) (fun s => binom n c * pow s c = binom n c * pow b c) rfl)
end
end CompactProofs
