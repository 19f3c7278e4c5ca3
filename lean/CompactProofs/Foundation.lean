prelude
/-!
# Foundation

Lean's own standard library (`Init`) is not part of the wheel that the continuous integration uses, so this file declares the
few things of `Init` that the theorem files need: the logical connectives, `Nat`, `Bool`, `List`, and the notation `=`, `+`, `≤`, `∧`,
`calc` and so on.
Everything has the name and the type that it has in `Init`. **Under a stock Lean this file is not built at all** (see `lakefile.toml`):
the theorem files then use the real `Init`.

Nothing here is an axiom that a theorem could use: the three `unsafe axiom`s are names that the code generator looks up, and
Lean refuses any use of an `unsafe` constant in a theorem; `check.py` asks `#print axioms` of every theorem besides.
-/
set_option bootstrap.inductiveCheckResultingUniverse false
unsafe axiom lcErased : Type
unsafe axiom lcAny : Type
unsafe axiom lcVoid : Type
universe u v w

/-! ## Equality -/
@[inline] def id {α : Sort u} (a : α) : α := a
@[reducible] def outParam (α : Sort u) : Sort u := α
@[reducible] def optParam (α : Sort u) (default : α) : Sort u := α
inductive PUnit : Sort u where | unit : PUnit
abbrev Unit : Type := PUnit
abbrev Unit.unit : Unit := PUnit.unit
structure PProd (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
inductive Eq {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a
theorem rfl {α : Sort u} {a : α} : Eq a a := Eq.refl a
inductive HEq : {α : Sort u} → α → {β : Sort u} → β → Prop where
  | refl {α : Sort u} (a : α) : HEq a a
abbrev Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a) {b : α} (h : Eq a b) : motive b :=
  h.rec m
theorem eq_of_heq {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a' :=
  have : (α β : Sort u) → (a : α) → (b : β) → HEq a b → (h : Eq α β) → Eq (h.rec (motive := fun γ _ => γ) a) b :=
    fun _ _ _ _ h₁ => h₁.rec (fun _ => rfl)
  this α α a a' h rfl
theorem heq_of_eq {α : Sort u} {a a' : α} (h : Eq a a') : HEq a a' := h.rec (HEq.refl a)
theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := h.rec (.refl a)
theorem Eq.trans {α : Sort u} {a b c : α} (h : Eq a b) (k : Eq b c) : Eq a c := k.rec h
theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h : Eq a b) (m : motive a) : motive b := h.rec m
theorem congrArg {α : Sort u} {β : Sort v} {a b : α} (f : α → β) (h : Eq a b) : Eq (f a) (f b) := h.rec rfl

/-! ## Connectives -/
inductive True : Prop where | intro : True
inductive False : Prop
@[macro_inline] def False.elim {C : Sort u} (h : False) : C := h.rec
def Not (a : Prop) : Prop := a → False
@[macro_inline] def absurd {a : Prop} {b : Sort v} (h : a) (k : Not a) : b := (k h).rec
@[reducible] def Ne {α : Sort u} (a b : α) : Prop := Not (Eq a b)
structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b
inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b
structure Iff (a b : Prop) : Prop where
  intro ::
  mp : a → b
  mpr : b → a
inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p
theorem Or.elim {a b c : Prop} (h : Or a b) (l : a → c) (r : b → c) : c :=
  match h with
  | .inl x => l x
  | .inr x => r x

/-! ## Data -/
structure Prod (α : Type u) (β : Type v) where
  fst : α
  snd : β
inductive Bool : Type where | false | true
export Bool (false true)
inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat
class OfNat (α : Type u) (_ : Nat) where
  ofNat : α
instance instOfNatNat (n : Nat) : OfNat Nat n := ⟨n⟩
inductive List (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α

/-! ## Notation

In Lean, `+`, `∧`, `calc` and `exact` are declared in `Init` by the same commands as a user's own notation. The parts of Lean's syntax
trees that this needs are declared below; names marked `extern` are those of compiled functions of Lean. The notation only decides how
the text is *read*; the kernel sees the terms that result. -/
structure String where
  bytes : Nat
structure Array (α : Type u) where
  toList : List α
inductive Lean.Name where
  | anonymous : Lean.Name
  | str (pre : Lean.Name) (s : String)
  | num (pre : Lean.Name) (n : Nat)
@[extern "x"] def Lean.Name.mkStr1 (a : String) : Lean.Name := .str .anonymous a
@[extern "x"] def Lean.Name.mkStr2 (a b : String) : Lean.Name := .str (.str .anonymous a) b
@[extern "x"] def Lean.Name.mkStr3 (a b c : String) : Lean.Name := .str (.str (.str .anonymous a) b) c
@[extern "x"] def Lean.Name.mkStr4 (a b c d : String) : Lean.Name := .str (.str (.str (.str .anonymous a) b) c) d
@[extern "x"] def Array.mkArray1 {α : Type u} (a : α) : Array α := ⟨.cons a .nil⟩
@[extern "x"] def Array.mkArray2 {α : Type u} (a b : α) : Array α := ⟨.cons a (.cons b .nil)⟩
@[extern "x"] def Array.mkArray4 {α : Type u} (a b c d : α) : Array α := ⟨.cons a (.cons b (.cons c (.cons d .nil)))⟩
@[extern "x"] def Array.mkArray3 {α : Type u} (a b c : α) : Array α := ⟨.cons a (.cons b (.cons c .nil))⟩
namespace Lean
abbrev SyntaxNodeKind := Lean.Name
inductive ParserDescr where
  | const (name : Name)
  | unary (name : Name) (p : ParserDescr)
  | binary (name : Name) (p₁ p₂ : ParserDescr)
  | node (kind : SyntaxNodeKind) (prec : Nat) (p : ParserDescr)
  | trailingNode (kind : SyntaxNodeKind) (prec lhsPrec : Nat) (p : ParserDescr)
  | symbol (val : String)
  | nonReservedSymbol (val : String) (includeIdent : Bool)
  | cat (catName : Name) (rbp : Nat)
  | parser (declName : Name)
  | nodeWithAntiquot (name : String) (kind : SyntaxNodeKind) (p : ParserDescr)
  | sepBy (p : ParserDescr) (sep : String) (psep : ParserDescr) (allowTrailingSep : Bool)
  | sepBy1 (p : ParserDescr) (sep : String) (psep : ParserDescr) (allowTrailingSep : Bool)
abbrev TrailingParserDescr := ParserDescr
end Lean
structure Substring.Raw where
  str : String
  startPos : Nat
  stopPos : Nat
namespace Lean
inductive SourceInfo where
  | original (leading : Substring.Raw) (pos : Nat) (trailing : Substring.Raw) (endPos : Nat)
  | synthetic (pos : Nat) (endPos : Nat) (canonical : Bool)
  | none
inductive Syntax.Preresolved where
  | namespace (ns : Name)
  | decl (n : Name) (fields : List String)
inductive Syntax where
  | missing
  | node (info : SourceInfo) (kind : SyntaxNodeKind) (args : Array Syntax)
  | atom (info : SourceInfo) (val : String)
  | ident (info : SourceInfo) (rawVal : Substring.Raw) (val : Name) (preresolved : List Syntax.Preresolved)
@[extern "x"] def Syntax.getArg (stx : Syntax) (i : Nat) : Syntax := stx
@[extern "x"] def Syntax.mkApp (fn : Syntax) (args : Array Syntax) : Syntax := fn
@[extern "x"] def mkCIdent (n : Name) : Syntax := .missing
end Lean
@[reducible] def autoParam (α : Sort u) (tactic : Lean.Syntax) : Sort u := α
@[extern "x"] def Array.empty {α : Type u} : Array α := ⟨.nil⟩
@[extern "x"] def Array.push {α : Type u} (a : Array α) (v : α) : Array α := a
@[extern "x"] def Lean.SourceInfo.fromRef (ref : Lean.Syntax) : Lean.SourceInfo := .none
@[extern "x"] def Lean.mkAtom (val : String) : Lean.Syntax := .atom .none val
@[extern "x"] def String.toRawSubstring (s : String) : Substring.Raw := ⟨s, 0, 0⟩
@[extern "x"] def String.toRawSubstring' (s : String) : Substring.Raw := ⟨s, 0, 0⟩
namespace Lean
inductive Macro.State : Type where | mk
inductive Macro.Result where
  | ok (stx : Syntax) (s : Macro.State)
  | error (e s : Macro.State)
/-- What turns one syntax tree into another. -/
abbrev Macro := Syntax → Macro.State → Macro.State → Macro.Result
/-- `op a` becomes `f a`. -/
def prefixMacro (f : Name) (stx : Syntax) (s : Macro.State) : Macro.Result :=
  .ok (Syntax.mkApp (mkCIdent f) (Array.mkArray1 (stx.getArg 1))) s
/-- `a op b` becomes `f a b`. -/
def infixMacro (f : Name) (stx : Syntax) (s : Macro.State) : Macro.Result :=
  .ok (Syntax.mkApp (mkCIdent f) (Array.mkArray2 (stx.getArg 0) (stx.getArg 2))) s
/-- `a op b` becomes `binop% f a b` (or `binrel%`), which elaborates both sides before it fixes their type. -/
def binopMacro (kind f : Name) (stx : Syntax) (s : Macro.State) : Macro.Result :=
  .ok (Syntax.node .none kind (Array.mkArray4 (Syntax.atom .none "binop% ") (mkCIdent f) (stx.getArg 0) (stx.getArg 2))) s
def unopMacro (f : Name) (stx : Syntax) (s : Macro.State) : Macro.Result :=
  .ok (Syntax.node .none `Lean.Parser.Term.unop (Array.mkArray3 (Syntax.atom .none "unop% ") (mkCIdent f) (stx.getArg 1))) s
end Lean

class HAdd (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hAdd : α → β → γ
class HSub (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hSub : α → β → γ
class HMul (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hMul : α → β → γ
class HDiv (α : Type u) (β : Type v) (γ : outParam (Type w)) where
  hDiv : α → β → γ
class Add (α : Type u) where
  add : α → α → α
class Sub (α : Type u) where
  sub : α → α → α
class Mul (α : Type u) where
  mul : α → α → α
class Div (α : Type u) where
  div : α → α → α
class Neg (α : Type u) where
  neg : α → α
class LE (α : Type u) where
  le : α → α → Prop
class LT (α : Type u) where
  lt : α → α → Prop
instance instHAdd {α : Type u} [Add α] : HAdd α α α := ⟨Add.add⟩
instance instHSub {α : Type u} [Sub α] : HSub α α α := ⟨Sub.sub⟩
instance instHMul {α : Type u} [Mul α] : HMul α α α := ⟨Mul.mul⟩
instance instHDiv {α : Type u} [Div α] : HDiv α α α := ⟨Div.div⟩

syntax:65 (name := «term_+_») term:65 " + " term:66 : term
syntax:65 (name := «term_-_») term:65 " - " term:66 : term
syntax:70 (name := «term_*_») term:70 " * " term:71 : term
syntax:70 (name := «term_/_») term:70 " / " term:71 : term
syntax:75 (name := «term-_») "-" term:75 : term
syntax:50 (name := «term_=_») term:51 " = " term:51 : term
syntax:50 (name := «term_≠_») term:51 " ≠ " term:51 : term
syntax:50 (name := «term_≤_») term:51 " ≤ " term:51 : term
syntax:50 (name := «term_<_») term:51 " < " term:51 : term
syntax:35 (name := «term_∧_») term:36 " ∧ " term:35 : term
syntax:30 (name := «term_∨_») term:31 " ∨ " term:30 : term
syntax:20 (name := «term_↔_») term:21 " ↔ " term:21 : term
syntax:75 (name := «term¬_») "¬ " term:40 : term
syntax:67 (name := «term_::_») term:68 " :: " term:67 : term
syntax:1024 (name := «term[]») "[" "]" : term
syntax:35 (name := «term_×_») term:36 " × " term:35 : term
@[macro «term_+_»] def «expand_+_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binop `HAdd.hAdd stx s
@[macro «term_-_»] def «expand_-_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binop `HSub.hSub stx s
@[macro «term_*_»] def «expand_*_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binop `HMul.hMul stx s
@[macro «term_/_»] def «expand_/_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binop `HDiv.hDiv stx s
@[macro «term-_»] def «expand-_» : Lean.Macro := fun stx _ s => Lean.unopMacro `Neg.neg stx s
@[macro «term_=_»] def «expand_=_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binrel `Eq stx s
@[macro «term_≠_»] def «expand_≠_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binrel `Ne stx s
@[macro «term_≤_»] def «expand_≤_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binrel `LE.le stx s
@[macro «term_<_»] def «expand_<_» : Lean.Macro := fun stx _ s => Lean.binopMacro `Lean.Parser.Term.binrel `LT.lt stx s
@[macro «term_∧_»] def «expand_∧_» : Lean.Macro := fun stx _ s => Lean.infixMacro `And stx s
@[macro «term_∨_»] def «expand_∨_» : Lean.Macro := fun stx _ s => Lean.infixMacro `Or stx s
@[macro «term_↔_»] def «expand_↔_» : Lean.Macro := fun stx _ s => Lean.infixMacro `Iff stx s
@[macro «term¬_»] def «expand¬_» : Lean.Macro := fun stx _ s => Lean.prefixMacro `Not stx s
@[macro «term_::_»] def «expand_::_» : Lean.Macro := fun stx _ s => Lean.infixMacro `List.cons stx s
@[macro «term[]»] def «expand[]» : Lean.Macro := fun stx _ s => .ok (Lean.mkCIdent `List.nil) s
@[macro «term_×_»] def «expand_×_» : Lean.Macro := fun stx _ s => Lean.infixMacro `Prod stx s

namespace Lean
syntax calcFirstStep := ppIndent(colGe term optional(" := " term))
syntax calcStep := ppIndent(colGe term " := " term)
syntax calcSteps := ppLine withPosition(calcFirstStep) withPosition(many(calcStep ppLine))
syntax (name := calc) "calc" calcSteps : term
syntax (name := Parser.Tactic.exact) "exact " term : tactic
end Lean
class Trans.{u1, u2, u3, v1, v2, v3} {α : Sort v1} {β : Sort v2} {γ : Sort v3}
    (r : α → β → Sort u1) (s : β → γ → Sort u2) (t : outParam (α → γ → Sort u3)) where
  trans {a : α} {b : β} {c : γ} : r a b → s b c → t a c
instance instTransEq {α : Sort u} {γ : Sort v} (r : α → γ → Sort w) : Trans Eq r r := ⟨fun h k => h.symm.rec k⟩
instance instTransEq_1 {α : Sort u} {β : Sort v} (r : α → β → Sort w) : Trans r Eq r := ⟨fun h k => k.rec h⟩

/-! ## Natural numbers

`Nat.add` and its like are declared exactly as in `Init`, because the kernel evaluates them on numerals by itself. -/
set_option bootstrap.genMatcherCode false in
@[extern "lean_nat_add"] protected def Nat.add : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => .succ (Nat.add n m)
instance instAddNat : Add Nat := ⟨Nat.add⟩
@[extern "lean_nat_pred"] def Nat.pred : Nat → Nat
  | .zero => .zero
  | .succ a => a
@[extern "lean_nat_sub"] protected def Nat.sub : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => .pred (Nat.sub n m)
instance instSubNat : Sub Nat := ⟨Nat.sub⟩
@[extern "lean_nat_mul"] protected def Nat.mul : Nat → Nat → Nat
  | _, .zero => .zero
  | n, .succ m => Nat.add (Nat.mul n m) n
instance instMulNat : Mul Nat := ⟨Nat.mul⟩
@[extern "lean_nat_dec_eq"] def Nat.beq : Nat → Nat → Bool
  | .zero, .zero => .true
  | .zero, .succ _ => .false
  | .succ _, .zero => .false
  | .succ n, .succ m => Nat.beq n m
@[extern "lean_nat_dec_le"] def Nat.ble : Nat → Nat → Bool
  | .zero, _ => .true
  | .succ _, .zero => .false
  | .succ n, .succ m => Nat.ble n m
inductive Nat.le (n : Nat) : Nat → Prop
  | refl : Nat.le n n
  | step {m : Nat} : Nat.le n m → Nat.le n (Nat.succ m)
instance instLENat : LE Nat := ⟨Nat.le⟩
protected def Nat.lt (n m : Nat) : Prop := Nat.le (.succ n) m
instance instLTNat : LT Nat := ⟨Nat.lt⟩
