"""The model as float32 programs: numpy and torch, several batch sizes, threads, orders of summation, spellings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from compactproofs.core.model import Model

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

Array = np.ndarray
Run = Callable[[Array], Array]


def tensors(model: Model) -> dict[str, Array]:
    """Weights as float32 matrices, by their short names; absent biases are zero."""
    names = ("W_E", "W_pos", "W_Q", "W_K", "W_V", "W_O", "W_U", "b_Q", "b_K", "b_V", "b_O", "b_U")
    sizes = {"b_Q": model.d_head, "b_K": model.d_head, "b_V": model.d_head, "b_O": model.d_model}
    sizes["b_U"] = model.d_vocab_out
    found = {t.name.split(".")[-1]: t for t in model.tensors}
    result = {}
    for name in names:
        if name in found:
            flat = np.frombuffer(found[name].data, "<f4")
            result[name] = flat.reshape(-1, found[name].shape[-1])[0 if name.startswith("b_") else slice(None)]
        else:
            result[name] = np.zeros(sizes[name], np.float32)
    return result


def numpy_run(given: dict[str, Array], seed: int | None, batch: int, written: str) -> Run:
    """numpy's float32; `seed` permutes the inner indices."""
    w = permuted(given, seed)
    root = np.float32(np.sqrt(np.float32(w["W_Q"].shape[1])))

    def one(tokens: Array) -> Array:
        x = w["W_E"][tokens] + w["W_pos"]
        flat = x.reshape(-1, x.shape[-1])  # one large product instead of many small ones
        q = x[:, -1] @ w["W_Q"] + w["b_Q"]
        k, v = ((flat @ w[f"W_{n}"] + w[f"b_{n}"]).reshape(*tokens.shape, -1) for n in "KV")
        scores = np.einsum("bd,bid->bi", q, k) if written == "einsum" else (q[:, None] * k).sum(axis=2)
        scores = scores * (np.float32(1) / root) if written == "reciprocal" else scores / root
        a = np.exp(scores - scores.max(axis=1, keepdims=True))
        a = a / a.sum(axis=1, keepdims=True)
        z = np.einsum("bi,bid->bd", a, v) if written == "einsum" else (a[:, :, None] * v).sum(axis=1)
        return (x[:, -1] + (z @ w["W_O"] + w["b_O"])) @ w["W_U"] + w["b_U"]

    return batched(one, batch)


def torch_run(given: dict[str, Array], seed: int | None, batch: int, written: str, threads: int) -> Run:
    """torch's float32 on the processor, all positions at once, as TransformerLens does."""
    w = {name: torch.from_numpy(value.copy()) for name, value in permuted(given, seed).items()}
    root = w["W_Q"].shape[1] ** 0.5
    width = w["W_pos"].shape[0]
    mask = torch.tril(torch.ones(width, width, dtype=torch.bool))

    def one(tokens: Array) -> Array:
        torch.set_num_threads(threads)
        with torch.inference_mode():
            x = w["W_E"][torch.from_numpy(tokens)] + w["W_pos"]
            if written == "einsum":
                q, k, v = (torch.einsum("bpd,dh->bph", x, w[f"W_{n}"]) + w[f"b_{n}"] for n in "QKV")
                scores = torch.einsum("bqh,bkh->bqk", q, k) / root
            else:
                q, k, v = (torch.nn.functional.linear(x, w[f"W_{n}"].T, w[f"b_{n}"]) for n in "QKV")
                scores = q @ k.transpose(1, 2) / root
            a = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
            z = torch.einsum("bqk,bkh->bqh", a, v) if written == "einsum" else a @ v
            x = x + (z @ w["W_O"] + w["b_O"])
            return (x[:, -1] @ w["W_U"] + w["b_U"]).numpy()

    return batched(one, batch)


def permuted(given: dict[str, Array], seed: int | None) -> dict[str, Array]:
    """The same function with the coordinates of the stream and of the head in another order."""
    if seed is None:
        return given
    rng = np.random.default_rng(seed)
    d, h = rng.permutation(given["W_E"].shape[1]), rng.permutation(given["W_Q"].shape[1])
    result = {name: given[name][:, d] for name in ("W_E", "W_pos")}
    for name in "QKV":
        result[f"W_{name}"], result[f"b_{name}"] = given[f"W_{name}"][d][:, h], given[f"b_{name}"][h]
    result["W_O"], result["b_O"] = given["W_O"][h][:, d], given["b_O"][d]
    result["W_U"], result["b_U"] = given["W_U"][d], given["b_U"]
    return {name: np.ascontiguousarray(value) for name, value in result.items()}


def batched(one: Run, batch: int) -> Run:
    return lambda tokens: np.concatenate([one(tokens[i : i + batch]) for i in range(0, len(tokens), batch)])


def runs(given: dict[str, Array]) -> dict[str, tuple[Run, int]]:
    """Name -> run and the share of all inputs that it sees (1 of so many): small batches are slow.

    A permutation of the inner indices changes the order of every sum.
    """
    found = {
        "numpy, matmul": (numpy_run(given, None, 4096, "matmul"), 1),
        "numpy, einsum, permuted, batch 1000": (numpy_run(given, 1, 1000, "einsum"), 1),
        "numpy, reciprocal, permuted, batch 7": (numpy_run(given, 2, 7, "reciprocal"), 16),
    }
    if torch is not None:
        found |= {
            "torch, linear, 1 thread": (torch_run(given, None, 1024, "linear", 1), 1),
            "torch, einsum, permuted, 1 thread, batch 1000": (torch_run(given, 3, 1000, "einsum", 1), 1),
            "torch, einsum, permuted, 2 threads, batch 4096": (torch_run(given, 4, 4096, "einsum", 2), 4),
            "torch, linear, permuted, 1 thread, batch 1": (torch_run(given, 5, 1, "linear", 1), 1024),
        }
    return found
