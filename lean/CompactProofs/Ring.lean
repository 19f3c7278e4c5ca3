import CompactProofs.Field
/-!
# A proof procedure for identities of commutative rings

`ring env ` proves `x = y` when both sides are built from the atoms listed in `env` by `+`, `*`, `-`, `0`, `1`, and multiply out to the
same polynomial. A polynomial is a pair of sorted lists of monomials (those with sign `+` and those with sign `-`), a monomial is the sorted
list of the numbers of its variables, coefficients are repetitions. The procedure is proved right here and runs inside the kernel.
-/
namespace CompactProofs.Ring
noncomputable section
universe u
variable {F : Type} [ExpField F]

/-- Expressions of the language of rings. -/
inductive Expr where
  | var (n : Nat)
  | zero
  | one
  | add (a b : Expr)
  | sub (a b : Expr)
  | mul (a b : Expr)
  | neg (a : Expr)

def look : List F → Nat → F
  | [], _ => 0
  | x :: _, .zero => x
  | _ :: env, .succ n => look env n

def Expr.eval (env : List F) : Expr → F
  | .var n => look env n
  | .zero => 0
  | .one => 1
  | .add a b => a.eval env + b.eval env
  | .sub a b => a.eval env - b.eval env
  | .mul a b => a.eval env * b.eval env
  | .neg a => -a.eval env

/-! ## Sums of monomials -/
def monoVal (env : List F) : List Nat → F
  | [] => 1
  | n :: m => look env n * monoVal env m
def sumVal (env : List F) : List (List Nat) → F
  | [] => 0
  | m :: p => monoVal env m + sumVal env p

def insertVar (n : Nat) : List Nat → List Nat
  | [] => n :: []
  | k :: m => match Nat.ble n k with
    | true => n :: k :: m
    | false => k :: insertVar n m
def mulMono : List Nat → List Nat → List Nat
  | [], m => m
  | n :: l, m => insertVar n (mulMono l m)
def leMono : List Nat → List Nat → Bool
  | [], _ => true
  | _ :: _, [] => false
  | a :: l, b :: m => match Nat.beq a b with
    | true => leMono l m
    | false => Nat.ble a b
def insertMono (m : List Nat) : List (List Nat) → List (List Nat)
  | [] => m :: []
  | k :: p => match leMono m k with
    | true => m :: k :: p
    | false => k :: insertMono m p
def addSum : List (List Nat) → List (List Nat) → List (List Nat)
  | [], q => q
  | m :: p, q => insertMono m (addSum p q)
def monoMulSum (m : List Nat) : List (List Nat) → List (List Nat)
  | [] => []
  | k :: p => insertMono (mulMono m k) (monoMulSum m p)
def mulSum : List (List Nat) → List (List Nat) → List (List Nat)
  | [], _ => []
  | m :: p, q => addSum (monoMulSum m q) (mulSum p q)

theorem insertVar_val (env : List F) (n : Nat) : (m : List Nat) → monoVal env (insertVar n m) = look env n * monoVal env m
  | [] => rfl
  | k :: m =>
    have ih := insertVar_val env n m
    show monoVal env (match Nat.ble n k with | true => n :: k :: m | false => k :: insertVar n m) = _ from
    match Nat.ble n k with
    | true => rfl
    | false => (mul_congr rfl ih).trans (mul_left_comm _ _ _)
theorem mulMono_val (env : List F) : (l m : List Nat) → monoVal env (mulMono l m) = monoVal env l * monoVal env m
  | [], m => (one_mul _).symm
  | n :: l, m =>
    (insertVar_val env n (mulMono l m)).trans
      ((mul_congr rfl (mulMono_val env l m)).trans (mul_assoc _ _ _).symm)
theorem insertMono_val (env : List F) (m : List Nat) : (p : List (List Nat)) →
    sumVal env (insertMono m p) = monoVal env m + sumVal env p
  | [] => rfl
  | k :: p =>
    have ih := insertMono_val env m p
    show sumVal env (match leMono m k with | true => m :: k :: p | false => k :: insertMono m p) = _ from
    match leMono m k with
    | true => rfl
    | false => (add_congr rfl ih).trans (add_left_comm _ _ _)
theorem addSum_val (env : List F) : (p q : List (List Nat)) → sumVal env (addSum p q) = sumVal env p + sumVal env q
  | [], q => (zero_add _).symm
  | m :: p, q =>
    (insertMono_val env m (addSum p q)).trans
      ((add_congr rfl (addSum_val env p q)).trans (add_assoc _ _ _).symm)
theorem monoMulSum_val (env : List F) (m : List Nat) : (p : List (List Nat)) →
    sumVal env (monoMulSum m p) = monoVal env m * sumVal env p
  | [] => (mul_zero _).symm
  | k :: p =>
    (insertMono_val env _ _).trans
      ((add_congr (mulMono_val env m k) (monoMulSum_val env m p)).trans (mul_add _ _ _).symm)
theorem mulSum_val (env : List F) : (p q : List (List Nat)) → sumVal env (mulSum p q) = sumVal env p * sumVal env q
  | [], q => (zero_mul _).symm
  | m :: p, q =>
    (addSum_val env _ _).trans
      ((add_congr (monoMulSum_val env m q) (mulSum_val env p q)).trans (add_mul _ _ _).symm)

/-! ## Differences of sums -/
structure Poly where
  pos : List (List Nat)
  neg : List (List Nat)
def Poly.val (env : List F) (p : Poly) : F := sumVal env p.pos - sumVal env p.neg

def Expr.norm : Expr → Poly
  | .var n => ⟨(n :: []) :: [], []⟩
  | .zero => ⟨[], []⟩
  | .one => ⟨[] :: [], []⟩
  | .add a b => ⟨addSum a.norm.pos b.norm.pos, addSum a.norm.neg b.norm.neg⟩
  | .sub a b => ⟨addSum a.norm.pos b.norm.neg, addSum a.norm.neg b.norm.pos⟩
  | .mul a b => ⟨addSum (mulSum a.norm.pos b.norm.pos) (mulSum a.norm.neg b.norm.neg),
      addSum (mulSum a.norm.pos b.norm.neg) (mulSum a.norm.neg b.norm.pos)⟩
  | .neg a => ⟨a.norm.neg, a.norm.pos⟩

/-- The value plus the negative part is the positive part. -/
theorem norm_val (env : List F) : (e : Expr) → e.eval env + sumVal env e.norm.neg = sumVal env e.norm.pos
  | .var n => calc look env n + 0 = look env n := add_zero _
      _ = look env n * 1 := (mul_one _).symm
      _ = look env n * 1 + 0 := (add_zero _).symm
  | .zero => add_zero 0
  | .one => rfl
  | .add a b =>
    have ha := norm_val env a
    have hb := norm_val env b
    calc (a.eval env + b.eval env) + sumVal env (addSum a.norm.neg b.norm.neg)
        = (a.eval env + b.eval env) + (sumVal env a.norm.neg + sumVal env b.norm.neg) := add_congr rfl (addSum_val env _ _)
      _ = (a.eval env + sumVal env a.norm.neg) + (b.eval env + sumVal env b.norm.neg) := add_add_add_comm _ _ _ _
      _ = sumVal env a.norm.pos + sumVal env b.norm.pos := add_congr ha hb
      _ = sumVal env (addSum a.norm.pos b.norm.pos) := (addSum_val env _ _).symm
  | .sub a b =>
    have ha := norm_val env a
    have hb := norm_val env b
    calc (a.eval env - b.eval env) + sumVal env (addSum a.norm.neg b.norm.pos)
        = (a.eval env - b.eval env) + (sumVal env a.norm.neg + (b.eval env + sumVal env b.norm.neg)) :=
          add_congr rfl ((addSum_val env _ _).trans (add_congr rfl hb.symm))
      _ = (a.eval env - b.eval env) + (b.eval env + (sumVal env a.norm.neg + sumVal env b.norm.neg)) :=
          add_congr rfl (add_left_comm _ _ _)
      _ = ((a.eval env - b.eval env) + b.eval env) + (sumVal env a.norm.neg + sumVal env b.norm.neg) := (add_assoc _ _ _).symm
      _ = a.eval env + (sumVal env a.norm.neg + sumVal env b.norm.neg) := add_congr (sub_add_cancel _ _) rfl
      _ = (a.eval env + sumVal env a.norm.neg) + sumVal env b.norm.neg := (add_assoc _ _ _).symm
      _ = sumVal env a.norm.pos + sumVal env b.norm.neg := add_congr ha rfl
      _ = sumVal env (addSum a.norm.pos b.norm.neg) := (addSum_val env _ _).symm
  | .mul a b =>
    have ha := norm_val env a
    have hb := norm_val env b
    let x := a.eval env
    let y := b.eval env
    let n := sumVal env a.norm.neg
    let k := sumVal env b.norm.neg
    let p := sumVal env a.norm.pos
    let q := sumVal env b.norm.pos
    have s : x * y + (x * k + n * q) = p * q :=
      calc x * y + (x * k + n * q) = (x * y + x * k) + n * q := (add_assoc _ _ _).symm
        _ = x * (y + k) + n * q := add_congr (mul_add x y k).symm rfl
        _ = x * q + n * q := add_congr (mul_congr rfl hb) rfl
        _ = (x + n) * q := (add_mul x n q).symm
        _ = p * q := mul_congr ha rfl
    have t : x * k + n * k = p * k := (add_mul x n k).symm.trans (mul_congr ha rfl)
    calc x * y + sumVal env (addSum (mulSum a.norm.pos b.norm.neg) (mulSum a.norm.neg b.norm.pos))
        = x * y + (p * k + n * q) :=
          add_congr rfl ((addSum_val env _ _).trans (add_congr (mulSum_val env _ _) (mulSum_val env _ _)))
      _ = x * y + ((x * k + n * k) + n * q) := add_congr rfl (add_congr t.symm rfl)
      _ = x * y + ((x * k + n * q) + n * k) := add_congr rfl
          ((add_assoc _ _ _).trans ((add_congr rfl (add_comm _ _)).trans (add_assoc _ _ _).symm))
      _ = (x * y + (x * k + n * q)) + n * k := (add_assoc _ _ _).symm
      _ = p * q + n * k := add_congr s rfl
      _ = sumVal env (addSum (mulSum a.norm.pos b.norm.pos) (mulSum a.norm.neg b.norm.neg)) :=
          ((addSum_val env _ _).trans (add_congr (mulSum_val env _ _) (mulSum_val env _ _))).symm
  | .neg a =>
    have ha := norm_val env a
    calc -a.eval env + sumVal env a.norm.pos
        = -a.eval env + (a.eval env + sumVal env a.norm.neg) := add_congr rfl ha.symm
      _ = (-a.eval env + a.eval env) + sumVal env a.norm.neg := (add_assoc _ _ _).symm
      _ = 0 + sumVal env a.norm.neg := add_congr ((add_comm _ _).trans (add_neg _)) rfl
      _ = sumVal env a.norm.neg := zero_add _

/-! ## Reading a term of the field as an expression -/
class Atom (env : List F) (x : F) (n : outParam Nat) : Prop where
  eq : look env n = x
instance atomTail (env : List F) (x y : F) (n : Nat) [h : Atom env x n] : Atom (y :: env) x (Nat.succ n) := ⟨h.eq⟩
instance atomHead (env : List F) (x : F) : Atom (x :: env) x 0 := ⟨rfl⟩

class Reads (env : List F) (x : F) (e : outParam Expr) : Prop where
  eq : e.eval env = x
instance (priority := 10) readsVar (env : List F) (x : F) (n : Nat) [h : Atom env x n] : Reads env x (.var n) := ⟨h.eq⟩
instance readsZero (env : List F) : Reads env 0 .zero := ⟨rfl⟩
instance readsOne (env : List F) : Reads env 1 .one := ⟨rfl⟩
instance readsAdd (env : List F) (x y : F) (e f : Expr) [h : Reads env x e] [k : Reads env y f] :
    Reads env (x + y) (.add e f) := ⟨add_congr h.eq k.eq⟩
instance readsSub (env : List F) (x y : F) (e f : Expr) [h : Reads env x e] [k : Reads env y f] :
    Reads env (x - y) (.sub e f) := ⟨sub_congr h.eq k.eq⟩
instance readsMul (env : List F) (x y : F) (e f : Expr) [h : Reads env x e] [k : Reads env y f] :
    Reads env (x * y) (.mul e f) := ⟨mul_congr h.eq k.eq⟩
instance readsNeg (env : List F) (x : F) (e : Expr) [h : Reads env x e] : Reads env (-x) (.neg e) := ⟨neg_congr h.eq⟩
end
end CompactProofs.Ring

namespace CompactProofs
open Ring
variable {F : Type} [ExpField F]
/-- Proves an identity of commutative rings: see the head of this file. -/
theorem ring (env : List F) {x y : F} {e f : Expr} [hx : Reads env x e] [hy : Reads env y f]
    (h : addSum e.norm.pos f.norm.neg = addSum f.norm.pos e.norm.neg := by exact rfl) : x = y :=
  have he := norm_val env e
  have hf := norm_val env f
  have hs : sumVal env e.norm.pos + sumVal env f.norm.neg = sumVal env f.norm.pos + sumVal env e.norm.neg :=
    (addSum_val env _ _).symm.trans ((congrArg (sumVal env) h).trans (addSum_val env _ _))
  have : e.eval env = f.eval env :=
    add_right_cancel (c := sumVal env e.norm.neg + sumVal env f.norm.neg)
      (calc e.eval env + (sumVal env e.norm.neg + sumVal env f.norm.neg)
          = (e.eval env + sumVal env e.norm.neg) + sumVal env f.norm.neg := (add_assoc _ _ _).symm
        _ = sumVal env e.norm.pos + sumVal env f.norm.neg := add_congr he rfl
        _ = sumVal env f.norm.pos + sumVal env e.norm.neg := hs
        _ = (f.eval env + sumVal env f.norm.neg) + sumVal env e.norm.neg := add_congr hf.symm rfl
        _ = f.eval env + (sumVal env e.norm.neg + sumVal env f.norm.neg) :=
            (add_assoc _ _ _).trans (add_congr rfl (add_comm _ _)))
  hx.eq.symm.trans (this.trans hy.eq)

example (a b : F) : (a + b) * (a - b) = a * a - b * b := ring (a :: b :: [])
example (a b c : F) : (a + b - c) * (a - b) + c * (a + 1 - b - 1) = a * a - b * b := ring (a :: b :: c :: [])
end CompactProofs
