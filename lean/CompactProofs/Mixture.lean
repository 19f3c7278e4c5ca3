import CompactProofs.Masses
/-!
# Mixtures of distributions

Part `j` of a mixture has weights `W j`, the inputs `inside j` (those with one of its answers), and a share `s j`; the mass of a property is
the sum of share times mass over the parts.
-/
namespace CompactProofs
noncomputable section

/-- The mass of a property under the mixture of the first `J` parts. -/
def mixtureMass (J : Nat) (s : Nat → Nat) (W : Nat → Nat → Nat → Nat) (inside : Nat → (Nat → Nat) → Bool) (v n : Nat)
    (p : (Nat → Nat) → Bool) (t : Nat → Nat) : Nat :=
  sumNat J (fun j => s j * mass (W j) v n (fun u => both (inside j u) (p u)) t)

theorem mixture_le (J : Nat) (s : Nat → Nat) (W : Nat → Nat → Nat → Nat) (inside : Nat → (Nat → Nat) → Bool) (v n : Nat)
    (p : (Nat → Nat) → Bool) (t : Nat → Nat) (c : Nat → Nat)
    (h : ∀ j, j < J → c j ≤ mass (W j) v n (fun u => both (inside j u) (p u)) t) :
    sumNat J (fun j => s j * c j) ≤ mixtureMass J s W inside v n p t :=
  sumNat_le (fun j hj => nat_mul_le_mul_left (h j hj) (s j))

/-- **Rule `mixture`.** Masses of right and of wrong inputs in the parts, times the shares, add up to such masses of the mixture. -/
theorem Rule.mixture (J : Nat) (s : Nat → Nat) (W : Nat → Nat → Nat → Nat) (inside : Nat → (Nat → Nat) → Bool) (v n : Nat)
    (correct : (Nat → Nat) → Bool) (t : Nat → Nat) (right wrong : Nat → Nat)
    (hr : ∀ j, j < J → right j ≤ mass (W j) v n (fun u => both (inside j u) (correct u)) t)
    (hw : ∀ j, j < J → wrong j ≤ mass (W j) v n (fun u => both (inside j u) (not (correct u))) t) :
    sumNat J (fun j => s j * right j) ≤ mixtureMass J s W inside v n correct t ∧
    sumNat J (fun j => s j * wrong j) ≤ mixtureMass J s W inside v n (fun u => not (correct u)) t :=
  ⟨mixture_le J s W inside v n correct t right hr, mixture_le J s W inside v n (fun u => not (correct u)) t wrong hw⟩
end
end CompactProofs
