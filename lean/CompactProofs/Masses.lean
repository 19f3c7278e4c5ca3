import CompactProofs.Soundness
/-!
# Distributions with weights: masses instead of counts

Let every token have a weight at every position, a natural number `W i x`. A sequence then has the product of its weights, and a set of
sequences the sum over its members (its *mass*); with all weights 1 this is counting. The rules `enumerate`, `margin_tree`,
`margin_convolution`, `disjoint_union` and
`conclude` hold for masses, word for word. (`pure_sequences` and `gap_classes` count shapes and are for the uniform distribution.)
-/
namespace CompactProofs
noncomputable section
variable {F : Type} [ExpField F]

/-- The sum of `f`, times the weights, over all fillings of the first `n` places. -/
def massOver (W : Nat → Nat → Nat) (v : Nat) : Nat → ((Nat → Nat) → Nat) → (Nat → Nat) → Nat
  | .zero, f, t => f t
  | .succ n, f, t => sumNat v (fun x => W n x * massOver W v n f (update t n x))
/-- The mass of the fillings that have the property `p`. -/
def mass (W : Nat → Nat → Nat) (v n : Nat) (p : (Nat → Nat) → Bool) (t : Nat → Nat) : Nat := massOver W v n (fun s => one (p s)) t
/-- The mass of all fillings: the product over the places of the total weight of the tokens. -/
def totalMass (W : Nat → Nat → Nat) (v : Nat) : Nat → Nat
  | .zero => 1
  | .succ n => sumNat v (W n) * totalMass W v n

theorem massOver_le {W : Nat → Nat → Nat} {v : Nat} : {n : Nat} → {f g : (Nat → Nat) → Nat} → {t : Nat → Nat} → (∀ s, Fills v n t s → f s ≤ g s) →
    massOver W v n f t ≤ massOver W v n g t
  | .zero, _, _, t, h => h t ⟨fun _ hi => (not_lt_zero hi).elim, fun _ _ => rfl⟩
  | .succ n, _, _, t, h => sumNat_le (fun x hx => nat_mul_le_mul_left (massOver_le (n := n) (fun s hs => h s (hs.step hx))) (W n x))
theorem massOver_congr {W : Nat → Nat → Nat} {v n : Nat} {f g : (Nat → Nat) → Nat} {t : Nat → Nat} (h : ∀ s, Fills v n t s → f s = g s) :
    massOver W v n f t = massOver W v n g t :=
  nat_le_antisymm (massOver_le (fun s hs => replace (h s hs) (fun x => x ≤ g s) (nat_le_refl _))) (massOver_le (fun s hs => replace (h s hs) (fun x => g s ≤ x) (nat_le_refl _)))
theorem massOver_add (W : Nat → Nat → Nat) (v : Nat) : (n : Nat) → (f g : (Nat → Nat) → Nat) → (t : Nat → Nat) →
    massOver W v n (fun s => f s + g s) t = massOver W v n f t + massOver W v n g t
  | .zero, _, _, _ => rfl
  | .succ n, f, g, t => (sumNat_congr (fun x _ => (nat_mul_congr rfl (massOver_add W v n f g (update t n x))).trans (nat_mul_add (W n x) _ _))).trans (sumNat_add v _ _)
theorem massOver_zero (W : Nat → Nat → Nat) (v : Nat) : (n : Nat) → (t : Nat → Nat) → massOver W v n (fun _ => 0) t = 0
  | .zero, _ => rfl
  | .succ n, t => (sumNat_congr (g := fun _ => 0) (fun x _ => nat_mul_congr rfl (massOver_zero W v n (update t n x)))).trans (sumNat_zero v)
theorem sumNat_mul_left (n c : Nat) (f : Nat → Nat) : sumNat n (fun i => c * f i) = c * sumNat n f :=
  (sumNat_congr (fun i _ => nat_mul_comm c (f i))).trans ((sumNat_mul_right n c f).trans (nat_mul_comm _ _))
theorem massOver_sumNat (W : Nat → Nat → Nat) (v m : Nat) : (n : Nat) → (f : Nat → (Nat → Nat) → Nat) → (t : Nat → Nat) →
    massOver W v n (fun s => sumNat m (fun j => f j s)) t = sumNat m (fun j => massOver W v n (f j) t)
  | .zero, _, _ => rfl
  | .succ n, f, t => (sumNat_congr (fun x _ => (nat_mul_congr rfl (massOver_sumNat W v m n f (update t n x))).trans (sumNat_mul_left m (W n x) _).symm)).trans (sumNat_swap v m _)
theorem mass_all (W : Nat → Nat → Nat) (v : Nat) : (n : Nat) → (t : Nat → Nat) → mass W v n (fun _ => true) t = totalMass W v n
  | .zero, _ => rfl
  | .succ n, t => (sumNat_congr (fun x _ => nat_mul_congr rfl (mass_all W v n (update t n x)))).trans (sumNat_mul_right v (totalMass W v n) (W n))
/-- With all weights 1, masses are counts. -/
theorem massOver_uniform (v : Nat) : (n : Nat) → (f : (Nat → Nat) → Nat) → (t : Nat → Nat) → massOver (fun _ _ => 1) v n f t = sumOver v n f t
  | .zero, _, _ => rfl
  | .succ n, f, t => sumNat_congr (fun x _ => (nat_one_mul _).trans (massOver_uniform v n f (update t n x)))

theorem mass_le {W : Nat → Nat → Nat} {v n : Nat} {p q : (Nat → Nat) → Bool} {t : Nat → Nat} (h : ∀ s, Fills v n t s → p s = true → q s = true) :
    mass W v n p t ≤ mass W v n q t := massOver_le (fun s hs => one_mono (h s hs))
theorem mass_congr {W : Nat → Nat → Nat} {v n : Nat} {p q : (Nat → Nat) → Bool} {t : Nat → Nat} (h : ∀ s, Fills v n t s → p s = q s) :
    mass W v n p t = mass W v n q t := massOver_congr (fun s hs => congrArg one (h s hs))
theorem mass_split (W : Nat → Nat → Nat) (v n : Nat) (p q : (Nat → Nat) → Bool) (t : Nat → Nat) :
    mass W v n (fun s => both (p s) (q s)) t + mass W v n (fun s => both (p s) (not (q s))) t = mass W v n p t :=
  (massOver_add W v n _ _ t).symm.trans (massOver_congr (fun s _ => one_split (p s) (q s)))
theorem mass_not (W : Nat → Nat → Nat) (v n : Nat) (p : (Nat → Nat) → Bool) (t : Nat → Nat) : mass W v n p t + mass W v n (fun s => not (p s)) t = totalMass W v n :=
  (mass_split W v n (fun _ => true) p t).trans (mass_all W v n t)
theorem mass_disjoint {W : Nat → Nat → Nat} {v n : Nat} {p q r : (Nat → Nat) → Bool} {t : Nat → Nat}
    (hp : ∀ s, p s = true → r s = true) (hq : ∀ s, q s = true → r s = true) (hd : ∀ s, p s = true → q s = false) :
    mass W v n p t + mass W v n q t ≤ mass W v n r t :=
  replace (massOver_add W v n _ _ t).symm (fun x => x ≤ mass W v n r t) (massOver_le (fun s _ => one_disjoint (hp s) (hq s) (hd s)))
theorem mass_either_le {W : Nat → Nat → Nat} {v n : Nat} {p q r : (Nat → Nat) → Bool} {t : Nat → Nat}
    (h : ∀ s, Fills v n t s → r s = true → p s = true ∨ q s = true) : mass W v n r t ≤ mass W v n p t + mass W v n q t :=
  Eq.subst (motive := fun x => mass W v n r t ≤ x) (massOver_add W v n _ _ t) (massOver_le (fun s hs => one_either (h s hs)))
theorem mass_allBelow (W : Nat → Nat → Nat) {v b : Nat} (hb : b ≤ v) (p : (Nat → Nat) → Bool) : (n : Nat) → (t : Nat → Nat) →
    mass W v n (fun s => both (allBelow b n s) (p s)) t = mass W b n p t
  | .zero, _ => rfl
  | .succ n, t =>
    have cut : ∀ x, b ≤ x → x < v → W n x * mass W v n (fun s => both (allBelow b (Nat.succ n) s) (p s)) (update t n x) = 0 := fun x hx _ =>
      nat_mul_congr rfl ((massOver_congr (g := fun _ => 0) (fun s hs =>
        have e : allBelow b (Nat.succ n) s = false := eq_false_of_ne_true (fun k =>
          nat_lt_irrefl b (nat_lt_of_le_of_lt hx (replace hs.place.symm (fun y => y < b) ((allBelow_iff b (Nat.succ n) s).mp k n (lt_succ_self n)))))
        replace e (fun y => one (both y (p s)) = 0) rfl)).trans (massOver_zero W v n (update t n x)))
    have keep : ∀ x, x < b → W n x * mass W v n (fun s => both (allBelow b (Nat.succ n) s) (p s)) (update t n x) = W n x * mass W b n p (update t n x) := fun x hx =>
      nat_mul_congr rfl ((mass_congr (fun s hs =>
        have e : blt (s n) b = true := lt_blt (replace hs.place (fun y => y < b) hx)
        show both (both (blt (s n) b) (allBelow b n s)) (p s) = both (allBelow b n s) (p s) from
          replace e (fun y => both (both y (allBelow b n s)) (p s) = both (allBelow b n s) (p s)) rfl)).trans
        (mass_allBelow W hb p n (update t n x)))
    (sumNat_cut b v _ hb cut).trans (sumNat_congr keep)

/-! ## The rules -/

/-- **Rule `enumerate`, masses.** -/
theorem Rule.enumerate.masses (W : Nat → Nat → Nat) (C : Circuits F) (O n : Nat) (r : F) (v N : Nat) (t₀ : Nat → Nat) (lab : (Nat → Nat) → Nat) (correct region right wrong : (Nat → Nat) → Bool)
    (hc : Certifies C O n r v N t₀ lab correct) (hf : Refutes C O n r v N t₀ lab correct)
    (hr : ∀ t, Fills v N t₀ t → right t = true → region t = true ∧ C.Correct O n r t (lab t))
    (hw : ∀ t, Fills v N t₀ t → wrong t = true → region t = true ∧ ¬ C.Correct O n r t (lab t)) :
    mass W v N right t₀ ≤ mass W v N (fun t => both (region t) (correct t)) t₀ ∧
    mass W v N wrong t₀ ≤ mass W v N (fun t => both (region t) (not (correct t))) t₀ :=
  ⟨mass_le (fun s hs h => both_intro (hr s hs h).left (hc s hs (hr s hs h).right)),
   mass_le (fun s hs h => both_intro (hw s hs h).left
     (replace (eq_false_of_ne_true (fun k => (hw s hs h).right (hf s hs k))) (fun b => not b = true) rfl))⟩

theorem disjoint_mass (W : Nat → Nat → Nat) (v n : Nat) (correct : (Nat → Nat) → Bool) (t : Nat → Nat) : (l : List (((Nat → Nat) → Bool) × Nat)) →
    Disjoint l → Every (fun x => x.snd ≤ mass W v n (fun s => both (x.fst s) (correct s)) t) l →
    totalOf l ≤ mass W v n (fun s => both (anyOf l s) (correct s)) t
  | [], _, _ => nat_zero_le _
  | ⟨r, c⟩ :: l, hd, h =>
    nat_le_trans (nat_add_le_add h.left (disjoint_mass W v n correct t l hd.right h.right))
      (mass_disjoint
        (fun s k => both_intro (replace (both_left k) (fun b => either b (anyOf l s) = true) rfl) (both_right k))
        (fun s k => both_intro
          (match bool_cases (r s) with
            | .inl e => replace e (fun b => either b (anyOf l s) = true) rfl
            | .inr e => replace e (fun b => either b (anyOf l s) = true) (both_left k)) (both_right k))
        (fun s k => replace (anyOf_false l s (hd.left s (both_left k))) (fun b => both b (correct s) = false) rfl))
/-- **Rule `disjoint_union`, masses.** -/
theorem Rule.disjoint_union.masses (W : Nat → Nat → Nat) (v n : Nat) (correct : (Nat → Nat) → Bool) (t : Nat → Nat) (l : List (((Nat → Nat) → Bool) × Nat))
    (hd : Disjoint l) (h : Every (fun x => x.snd ≤ mass W v n (fun s => both (x.fst s) (correct s)) t) l) :
    totalOf l ≤ mass W v n correct t :=
  nat_le_trans (disjoint_mass W v n correct t l hd h) (mass_le (fun _ _ k => both_right k))

/-- **Rule `conclude`, masses.** The mass of the right sequences lies between `right` and the total mass less `wrong`. -/
theorem Rule.conclude.masses (W : Nat → Nat → Nat) (v N right wrong : Nat) (correct region : (Nat → Nat) → Bool) (t₀ : Nat → Nat)
    (hr : right ≤ mass W v N (fun t => both (region t) (correct t)) t₀)
    (hw : wrong ≤ mass W v N (fun t => both (region t) (not (correct t))) t₀) :
    right ≤ mass W v N correct t₀ ∧ mass W v N correct t₀ ≤ totalMass W v N - wrong :=
  ⟨nat_le_trans hr (mass_le (fun _ _ k => both_right k)),
   le_sub_of_add_le wrong (nat_le_trans (nat_add_le_add (nat_le_refl _) (nat_le_trans hw (mass_le (fun _ _ k => both_right k))))
     (replace (mass_not W v N correct t₀) (fun x => x ≤ totalMass W v N) (nat_le_refl _)))⟩

/-- The tree of `margin_tree`, with masses. -/
inductive MassTree (W : Nat → Nat → Nat) (v : Nat) (correct : (Nat → Nat) → Bool) : Nat → (Nat → Nat) → Nat → Nat → Prop where
  | right (n : Nat) (t : Nat → Nat) (h : ∀ s, Fills v n t s → correct s = true) : MassTree W v correct n t (totalMass W v n) 0
  | wrong (n : Nat) (t : Nat → Nat) (h : ∀ s, Fills v n t s → correct s = false) : MassTree W v correct n t 0 (totalMass W v n)
  | undecided (n : Nat) (t : Nat → Nat) : MassTree W v correct n t 0 0
  | branch (n : Nat) (t : Nat → Nat) (r w : Nat → Nat) (h : ∀ x, x < v → MassTree W v correct n (update t n x) (r x) (w x)) :
      MassTree W v correct (Nat.succ n) t (sumNat v (fun x => W n x * r x)) (sumNat v (fun x => W n x * w x))
/-- **Rule `margin_tree`, masses.** -/
theorem Rule.margin_tree.masses (W : Nat → Nat → Nat) (v : Nat) (correct : (Nat → Nat) → Bool) (n : Nat) (t : Nat → Nat) (r w : Nat) (h : MassTree W v correct n t r w) :
    r ≤ mass W v n correct t ∧ w ≤ mass W v n (fun s => not (correct s)) t :=
  MassTree.rec (W := W) (v := v) (correct := correct) (motive := fun n t r w _ => r ≤ mass W v n correct t ∧ w ≤ mass W v n (fun s => not (correct s)) t)
    (fun n t h => ⟨replace (mass_all W v n t).symm (fun x => x ≤ mass W v n correct t) (mass_le (fun s hs _ => h s hs)), nat_zero_le _⟩)
    (fun n t h => ⟨nat_zero_le _, replace (mass_all W v n t).symm (fun x => x ≤ mass W v n (fun s => not (correct s)) t)
      (mass_le (fun s hs _ => replace (h s hs) (fun b => not b = true) rfl))⟩)
    (fun n t => ⟨nat_zero_le _, nat_zero_le _⟩)
    (fun n t r w _ ih => ⟨sumNat_le (fun x hx => nat_mul_le_mul_left (ih x hx).left (W n x)), sumNat_le (fun x hx => nat_mul_le_mul_left (ih x hx).right (W n x))⟩) h

/-- The recursion of `margin_convolution`, with masses. -/
def tailMass (W : Nat → Nat → Nat) (b : Nat) (g : Nat → Nat → Nat) : Nat → Nat → Nat
  | .zero, θ => one (Nat.ble θ 0)
  | .succ n, θ => sumNat b (fun x => W n x * tailMass W b g n (θ - g n x))
theorem tailMass_eq (W : Nat → Nat → Nat) (b : Nat) (g : Nat → Nat → Nat) : (n θ : Nat) → (t : Nat → Nat) →
    tailMass W b g n θ = mass W b n (fun s => Nat.ble θ (sumNat n (fun i => g i (s i)))) t
  | .zero, _, _ => rfl
  | .succ n, θ, t => sumNat_congr (fun x _ => nat_mul_congr rfl
      ((tailMass_eq W b g n (θ - g n x) (update t n x)).trans (mass_congr (fun s hs =>
        show Nat.ble (θ - g n x) (sumNat n (fun i => g i (s i))) = Nat.ble θ (sumNat n (fun i => g i (s i)) + g n (s n)) from
        replace hs.place (fun y => Nat.ble (θ - g n x) (sumNat n (fun i => g i (s i))) = Nat.ble θ (sumNat n (fun i => g i (s i)) + g n y)) (ble_sub θ (g n x) _)))))
theorem mass_exactly (W : Nat → Nat → Nat) (v m n : Nat) (hm : m < v) (p : (Nat → Nat) → Bool) (t : Nat → Nat) :
    mass W v n (fun s => both (inClass true m n s) (p s)) t = mass W (Nat.succ m) n p t ∧
    mass W v n (fun s => both (inClass false m n s) (p s)) t + mass W m n p t = mass W (Nat.succ m) n p t :=
  have all : mass W v n (fun s => both (allBelow (Nat.succ m) n s) (p s)) t = mass W (Nat.succ m) n p t := mass_allBelow W hm p n t
  have low : mass W v n (fun s => both (allBelow m n s) (p s)) t = mass W m n p t := mass_allBelow W (nat_le_of_lt hm) p n t
  ⟨(mass_congr (fun s _ =>
      show both (both (allBelow (Nat.succ m) n s) (either true (not (allBelow m n s)))) (p s) = both (allBelow (Nat.succ m) n s) (p s) from
      match allBelow (Nat.succ m) n s with
      | true => rfl
      | false => rfl)).trans all,
   calc mass W v n (fun s => both (inClass false m n s) (p s)) t + mass W m n p t
      = mass W v n (fun s => both (inClass false m n s) (p s)) t + mass W v n (fun s => both (allBelow m n s) (p s)) t := nat_add_congr rfl low.symm
    _ = massOver W v n (fun s => one (both (inClass false m n s) (p s)) + one (both (allBelow m n s) (p s))) t := (massOver_add W v n _ _ t).symm
    _ = mass W v n (fun s => both (allBelow (Nat.succ m) n s) (p s)) t := massOver_congr (fun s _ => exactly_one m n s (p s))
    _ = mass W (Nat.succ m) n p t := all⟩
/-- **Rule `margin_convolution`, masses.** -/
theorem Rule.margin_convolution.masses (W : Nat → Nat → Nat) (v m n : Nat) (hm : m < v) (g : Nat → Nat → Nat) (θ : Nat) (fails : (Nat → Nat) → Bool) (t : Nat → Nat)
    (h : ∀ s, Fills v n t s → fails s = true → θ ≤ sumNat n (fun i => g i (s i))) :
    mass W v n (fun s => both (inClass true m n s) (fails s)) t ≤ tailMass W (Nat.succ m) g n θ ∧
    mass W v n (fun s => both (inClass false m n s) (fails s)) t ≤ tailMass W (Nat.succ m) g n θ - tailMass W m g n θ :=
  let reach : (Nat → Nat) → Bool := fun s => Nat.ble θ (sumNat n (fun i => g i (s i)))
  have grow : ∀ top, mass W v n (fun s => both (inClass top m n s) (fails s)) t ≤ mass W v n (fun s => both (inClass top m n s) (reach s)) t := fun top =>
    mass_le (fun s hs k => both_intro (both_left k) (le_ble (h s hs (both_right k))))
  have counted := mass_exactly W v m n hm reach t
  have r1 := tailMass_eq W (Nat.succ m) g n θ t
  have r0 := tailMass_eq W m g n θ t
  ⟨nat_le_trans (grow true) (replace counted.left (fun x => x ≤ tailMass W (Nat.succ m) g n θ) (replace r1 (fun x => mass W (Nat.succ m) n reach t ≤ x) (nat_le_refl _))),
   nat_le_trans (grow false) (le_sub_of_add_le (tailMass W m g n θ)
     (replace r0 (fun x => mass W v n (fun s => both (inClass false m n s) (reach s)) t + x ≤ tailMass W (Nat.succ m) g n θ)
       (replace r1 (fun x => mass W v n (fun s => both (inClass false m n s) (reach s)) t + mass W m n reach t ≤ x)
         (replace counted.right (fun x => x ≤ mass W (Nat.succ m) n reach t) (nat_le_refl _)))))⟩
end
end CompactProofs
