import CompactProofs.Kernel
/-!
# The accuracy of one small model, inside Lean's kernel

The model has 4 tokens, sequences of length 2, `d_model = 2`, `d_head = 1` and biases. The token `x` is embedded as `(x, 1)`; the score of a
token is the token itself; the head copies four times the attended token; the output `o` has the logit `2 o y - 5 o²`, where `y` is the
query plus four times the
attended average, so that the output nearest to `y / 5` wins. The model is right on 13 of the 16 sequences (it is wrong on `2 0`, `3 0` and
`3 1`, where the query pulls the answer down). The theorem at the end says so, for the real-number function and with the exponential of the
softmax;
it is closed, uses no axiom, and was evaluated by the kernel. The numbers in `table` are untrusted enclosures in units of `2^-40`.
-/
namespace CompactProofs.Example
noncomputable section
variable {F : Type} [ExpField F]

/-- 1 in row 0, otherwise 0. -/
def first (a : Num) : Nat → Num
  | .zero => a
  | .succ _ => ⟨0, 0⟩
def model : NumModel where
  dModel := 2
  E x l := match l with
    | .zero => ⟨x, 0⟩
    | .succ _ => ⟨1, 0⟩
  P _ _ := ⟨0, 0⟩
  WQ _ _ := ⟨0, 0⟩
  WK l _ := first ⟨1, 0⟩ l
  WV l _ := first ⟨1, 0⟩ l
  WO _ l := first ⟨4, 0⟩ l
  U l o := match l with
    | .zero => ⟨2 * o, 0⟩
    | .succ _ => ⟨0, o * o⟩
  bQ _ := ⟨1, 0⟩
  bK _ := ⟨7, 0⟩
  bV _ := ⟨0, 0⟩
  bO l := match l with
    | .zero => ⟨0, 0⟩
    | .succ _ => ⟨4, 0⟩
  bU _ := ⟨0, 0⟩

def table : ExpTable where
  D := 1099511627776
  base := ⟨1099510579200, 1099510579201⟩
  squares :=
      ⟨1099509530625, 1099509530627⟩ ::
      ⟨1099507433477, 1099507433482⟩ ::
      ⟨1099503239193, 1099503239204⟩ ::
      ⟨1099494850673, 1099494850696⟩ ::
      ⟨1099478073825, 1099478073872⟩ ::
      ⟨1099444520897, 1099444520992⟩ ::
      ⟨1099377418113, 1099377418304⟩ ::
      ⟨1099243224832, 1099243225214⟩ ::
      ⟨1098974887408, 1098974888172⟩ ::
      ⟨1098438409056, 1098438410584⟩ ::
      ⟨1097366237890, 1097366240944⟩ ::
      ⟨1095225034133, 1095225040230⟩ ::
      ⟨1090955152350, 1090955164498⟩ ::
      ⟨1082465264006, 1082465288114⟩ ::
      ⟨1065683179858, 1065683227327⟩ ::
      ⟨1032895524833, 1032895616851⟩ ::
      ⟨970315491231, 970315664118⟩ ::
      ⟨856300314374, 856300619519⟩ ::
      ⟨666887197800, 666887673096⟩ ::
      ⟨404487340883, 404487917447⟩ :: []
  powers :=
      ⟨404487340883, 404487917447⟩ ::
      ⟨148802436283, 148802860496⟩ ::
      ⟨54741305365, 54741539455⟩ :: []

/-- No score exceeds 3. -/
def top (_ : Nat) : Num := ⟨3, 0⟩
def start (_ : Nat) : Nat := 0

theorem table_ok : table.ok = true := rfl
theorem right_count : Nat.ble 13 (count 4 2 (model.right table top 4 1) start) = true := rfl
theorem wrong_count : Nat.ble 3 (count 4 2 (model.wrong table top 4 1) start) = true := rfl

/-- **The model is right on exactly 13 of its 16 sequences**, over every ordered field with an exponential: whatever function `correct`
tells whether the model gives the largest token the strictly largest logit, it is true 13 times. -/
theorem accuracy (correct : (Nat → Nat) → Bool)
    (hc : ∀ t, Fills 4 2 start t → (correct t = true ↔ ((model.model : Model F).Correct 4 1 0 t (label 1 t)))) : count 4 2 correct start = 13 :=
  have h := model.sound (F := F) table table_ok top 4 1 4 start correct hc 13 3 right_count wrong_count
  nat_le_antisymm (nat_le_of_add_le_add_right 3 h.right) h.left
end
end CompactProofs.Example
