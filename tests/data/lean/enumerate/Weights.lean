import Export.Network
/-!
# The weights of the certificate

32 numbers, each exactly the floating-point number that the certificate holds: an integer over a power of two.

* certificate: sha256 754cf697c91137a08ec19ab3b23c0fe7ffe25deb9e8efe968a133da4a3c2bfd4
* weights: sha256 b4354fd9d849e263b7dc5905c46c76bcec2577df8533ccc461d218c37214947f
-/
namespace CompactProofs.Export
noncomputable section

def tensor_W_E : Tensor where
  denominator := 2
  rows := [
    [-4, -6],
    [0, -5],
    [7, 6]]

def tensor_W_pos : Tensor where
  denominator := 2
  rows := [
    [7, 4],
    [-2, -5]]

def tensor_W_Q : Tensor where
  denominator := 2
  rows := [
    [7, -8],
    [4, 5]]

def tensor_W_K : Tensor where
  denominator := 2
  rows := [
    [-8, 6],
    [0, -1]]

def tensor_W_V : Tensor where
  denominator := 2
  rows := [
    [-5, 2],
    [-8, -8]]

def tensor_W_O : Tensor where
  denominator := 1
  rows := [
    [-4, -4],
    [2, -1]]

def tensor_W_U : Tensor where
  denominator := 2
  rows := [
    [5, -8, 8],
    [-1, 6, 7]]

def d_model : ℕ := 2
def d_head : ℕ := 2

def network : Network where
  d_model := d_model
  d_head := d_head
  W_E := fun i j => tensor_W_E.at i j
  W_pos := fun i j => tensor_W_pos.at i j
  W_Q := fun i j => tensor_W_Q.at i j
  W_K := fun i j => tensor_W_K.at i j
  W_V := fun i j => tensor_W_V.at i j
  W_O := fun i j => tensor_W_O.at i j
  W_U := fun i j => tensor_W_U.at i j
  b_Q := fun _ => 0
  b_K := fun _ => 0
  b_V := fun _ => 0
  b_O := fun _ => 0
  b_U := fun _ => 0
end
end CompactProofs.Export
