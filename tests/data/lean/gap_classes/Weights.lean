import Export.Network
/-!
# The weights of the certificate

26 numbers, each exactly the floating-point number that the certificate holds: an integer over a power of two.

* certificate: sha256 9fe9225572d38dbe97b760e4a887e7ec9570599297f5c13063e318b664647e92
* weights: sha256 b3fc77a353316f495717f4ddc354625a7158c55069f716b37a6307dcb7b189ce
-/
namespace CompactProofs.Export
noncomputable section

def tensor_W_E : Tensor where
  denominator := 0
  rows := [
    [0, 1],
    [1, 1],
    [2, 1]]

def tensor_W_pos : Tensor where
  denominator := 3
  rows := [
    [-1, 1],
    [1, -1],
    [0, 1]]

def tensor_W_Q : Tensor where
  denominator := 0
  rows := [
    [0],
    [1]]

def tensor_W_K : Tensor where
  denominator := 0
  rows := [
    [3],
    [0]]

def tensor_W_V : Tensor where
  denominator := 0
  rows := [
    [1],
    [0]]

def tensor_W_O : Tensor where
  denominator := 0
  rows := [
    [24, 0]]

def tensor_W_U : Tensor where
  denominator := 1
  rows := [
    [0, 2, 4],
    [0, -25, -100]]

def d_model : ℕ := 2
def d_head : ℕ := 1

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
