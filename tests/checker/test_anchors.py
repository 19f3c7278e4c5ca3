"""Faults that other checkers, emitters and loaders had, tried here. Each test names the report that it comes from."""

from __future__ import annotations

import ast
import base64
import json
import math
import pickle
import re
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from certificates import (
    BIASES,
    REQUIRED,
    Document,
    asked,
    certify,
    count_of,
    golden,
    judge,
    model_of,
    planted,
    random_model,
    resign,
    run_command,
    spelled,
    step_of,
)
from compactproofs.core.checkpoint import encode as safetensors
from compactproofs.core.model import Model
from oracle import Oracle

ROOT = Path(__file__).resolve().parents[2]
CHECKER = sorted((ROOT / "checker").rglob("*.py"))


def code(value: Document) -> str:
    return judge(spelled(value)).code


def proof(value: Document, steps: list[dict[str, object]]) -> Document:
    value.update(proof=steps, end=len(steps))
    return value


# --- 1 to 15 --------------------------------------------------------------------------------------------


def test_01_upper_end_of_exp_below_the_truth() -> None:
    """mpmath/mpmath#1181: iv.exp's upper end lies below exp(x) at two points; our ends hold the truth there."""
    from compactproofs.checker.numbers import Exp, Meter

    for n, bits in ((3893924827815215, 50), (1381846513289487, 46)):
        exp = Exp(200, bits, Meter(10**9))
        low, high = exp.end(n, False), exp.end(n, True)
        with mpmath.workprec(600):
            assert low <= mpmath.ldexp(mpmath.exp(-mpmath.ldexp(n, -bits)), 200) <= high


def test_02_empty_proof_and_one_line_proof() -> None:
    """marijnheule/drat-trim#31: an empty clause with an empty hint list is accepted."""
    assert code(proof(golden("enumerate"), [])) == "NO_CONCLUSION"
    assert code(proof(golden("enumerate"), [{"rule": "conclude", "of": 0}])) == "FORWARD_REFERENCE"
    value = golden("part")
    value["claim"]["bounds"].update(lower="0", upper=value["claim"]["bounds"]["total"])
    assert code(proof(value, [])) == "NO_CONCLUSION"  # not even the claim that says nothing


def test_03_premise_out_of_scope() -> None:
    """david-a-wheeler/mmverify.py#30: a hypothesis whose scope was closed could be used in one of two proof formats.

    There is one format, and no scope but "earlier": a step that does not exist yet is out of scope.
    """
    value = golden("enumerate")
    step_of(value, "conclude")["of"] = len(value["proof"])
    assert code(value) == "FORWARD_REFERENCE"


def test_04_rule_with_no_premises() -> None:
    """ufmg-smite/carcara#19: resolution of no premises gives the empty clause; all([]) is true."""
    value = golden("union")
    step_of(value, "disjoint_union")["of"] = []
    assert code(value) == "PREMISES"
    for kind in ("enumerate", "margin_tree", "pure_sequences"):
        value = golden(kind)
        step_of(value, kind)["region"] = []
        assert code(value) == "EMPTY_REGION"
    value = golden("gap_classes")
    step_of(value, "row_bound_min")["of"] = []
    assert code(value) == "PREMISES"


@pytest.mark.parametrize("name", ["embed.W_E", "pos_embed.W_pos", *(f"blocks.0.attn.W_{x}" for x in "QKVO"), *BIASES])
@pytest.mark.parametrize("bits", [0x7E00, 0xFE00, 0x7C01, 0x7C00, 0xFC00])
def test_05_not_a_number_never_verifies(name: str, bits: int) -> None:
    """verivital/nnv#446: max(NaN) <= tol is false, so that NaN bounds said "unsat" for every instance."""
    value = golden("biases")
    tensor = next(tensor for tensor in value["model"]["tensors"] if tensor["name"] == name)
    data = base64.b64decode(tensor["data"])
    tensor["data"] = base64.b64encode(data[:-2] + struct.pack("<H", bits)).decode()
    assert code(resign(value)) == "NOT_FINITE"


def test_06_swallowed_exception() -> None:
    """Verified-Intelligence/alpha-beta-CROWN#83: an option swallowed an assertion, and every instance was verified.

    The checker has no option that turns a check off, and no handler that swallows (see test_boundary).
    """
    _, text, _ = run_command_help()
    options = {word.strip("[],") for word in text.split() if word.startswith(("--", "[--"))}
    known = {
        "--model",
        "--at-least",
        "--at-most",
        "--show",
        "--explain",
        "--json",
        "--quiet",
        "--timeout",
        "--max-memory",
    }
    assert {option.lstrip("[") for option in options} - {"--help"} <= known | {
        "--max-operations",
        "--weighted",
        "--max-bytes",
        "--version",
    }


def run_command_help() -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "compactproofs.checker", "--help"], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_07_number_printed_as_another_one() -> None:
    """alkahest-cas/alkahest#353: an emitter printed 2**70 as 0, and the certificate proved another statement.

    Numbers of any size survive the trip through a certificate, and the verdict's text is made from what was checked.
    """
    from compactproofs.checker.numbers import read_hex
    from compactproofs.core.proof import hexadecimal

    for n in (0, 1, -1, 2**63, -(2**63), 2**64, 2**70, -(2**70), 10**1000):
        assert read_hex(hexadecimal(n), "here") == n
    value = certify(planted(vocab=3, context=50, pull=1.0), "cubic")
    status, out, _ = run_on(value)
    assert status == 0
    assert str(3**50) in out
    assert str(int(value["claim"]["bounds"]["lower"], 16)) in out


def run_on(value: Document, *options: str) -> tuple[int, str, str]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_bytes(spelled(value))
        return run_command(str(path), *options)


def test_08_compared_with_itself() -> None:
    """leanprover/lean-kernel-arena#16: rules of the file were compared with themselves.

    What a step states is compared with what is derived: a wrong count in step, claim and union alike is refused.
    """
    value = golden("union")
    found = step_of(value, "enumerate", 1)
    found["right"] = f"{int(found['right'], 16) + 1:x}"
    bounds = value["claim"]["bounds"]
    bounds.update(lower=f"{int(bounds['lower'], 16) + 1:x}", upper=f"{int(bounds['upper'], 16) + 1:x}")
    assert code(value) == "STATED_RESULT"


def test_09_verdict_without_certificate() -> None:
    """NeuralNetworkVerification/Marabou#820: a verdict from preprocessing, for which no proof was written.

    There is no verdict without the whole path: a claim that holds trivially still needs its steps.
    """
    value = golden("one_output")
    assert judge(spelled(value)).verdict == "VERIFIED"
    for number in range(len(value["proof"])):
        broken = golden("one_output")
        del broken["proof"][number]
        broken["end"] -= 1
        assert judge(spelled(broken)).verdict in ("REJECTED", "MALFORMED")


def test_10_numbers_of_many_digits(tmp_path: Path) -> None:
    """leancert-python 2.3.0: a numerator of 26,518 digits aborted json.loads; small weights became 0."""
    value = golden("enumerate")
    data = spelled(value).replace(b'"version":1}', b'"version":' + b"1" * 26_518 + b"}")
    assert judge(data).code == "INTEGER_TOO_LARGE"
    value["claim"]["bounds"]["lower"] = "1" * 8000
    assert code(value) == "BOUNDS"
    smallest = golden("float32")
    tensor = next(t for t in smallest["model"]["tensors"] if t["name"] == "unembed.W_U")
    tensor["data"] = base64.b64encode(struct.pack("<6f", 2.0**-149, -(2.0**-149), 0, 0, 0, 0)).decode()
    assert code(resign(smallest)) in ("STATED_RESULT", "BOUND", "")


def test_11_loader_runs_no_code(tmp_path: Path) -> None:
    """GHSA-53q9-r3pm-6pq6: torch.load runs code. The checker knows no pickle: it is no certificate and no model."""
    proof_of_run = tmp_path / "ran"

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (proof_of_run,)  # type: ignore[return-value]

    bomb = tmp_path / "bomb.json"
    bomb.write_bytes(pickle.dumps(Bomb()))
    good = tmp_path / "good.json"
    good.write_bytes(spelled(golden("enumerate")))
    assert run_command(str(bomb))[0] == 2
    assert run_command(str(good), "--model", str(bomb))[0] == 2
    assert not proof_of_run.exists()
    imported = {
        alias.name
        for path in CHECKER
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert not imported & {"pickle", "torch", "numpy", "marshal", "shelve"}


def test_12_two_readers_see_two_models(tmp_path: Path) -> None:
    """huggingface/safetensors#401, ml-explore/mlx#3363: duplicate keys and unchecked offsets in a header."""
    from compactproofs.core.checkpoint import load
    from compactproofs.core.errors import CompactProofsError

    good = tmp_path / "good.json"
    good.write_bytes(spelled(golden("enumerate")))
    data = (ROOT / "tests" / "data" / "malformed" / "model_duplicate_key.safetensors").read_bytes()
    for name in ("duplicate_key", "offsets_overlap", "offsets_gap", "trailing_byte", "offsets_backward"):
        path = ROOT / "tests" / "data" / "malformed" / f"model_{name}.safetensors"
        assert run_command(str(good), "--model", str(path))[0] == 2
        with pytest.raises(CompactProofsError):
            load(str(path))
    assert data


def test_13_silent_change_of_weights() -> None:
    """TransformerLens#1510, #1580, #526: folds in floating point make another model.

    Biases are folded exactly: an equivalent model with its value bias moved to the output has the same truth, and each
    of the two certificates names its own weights.
    """
    model = random_model(19, biases=BIASES)
    from compactproofs.core.task import task_for

    truth = Oracle(model, task_for(model)).count()
    value = golden("biases")
    assert int(value["claim"]["bounds"]["lower"], 16) == truth
    changed = golden("biases")
    tensor = changed["model"]["tensors"][-1]
    data = bytearray(base64.b64decode(tensor["data"]))
    data[0] ^= 1
    tensor["data"] = base64.b64encode(bytes(data)).decode()
    assert code(changed) == "DIGEST"


def test_14_accuracy_is_one_number() -> None:
    """pytorch#17738, #75778, #45422: argmax of ties, TF32 and the batch size change a float accuracy.

    A tie is wrong, whichever output comes first; certificates are the same bytes every time.
    """
    from tiny_circuits import cancellation

    tie = cancellation(0)
    value = certify(tie.model, "margin-tree", tie.task)
    assert int(value["claim"]["bounds"]["lower"], 16) == 2
    again = certify(tie.model, "margin-tree", tie.task)
    assert spelled(value) == spelled(again)


def test_15_checks_survive_optimisation(tmp_path: Path) -> None:
    """pq-code-package/mldsa-native#1218: checks by assert vanish under python -O."""
    value = golden("enumerate")
    step_of(value, "enumerate")["wrong"] = "2"
    path = tmp_path / "bad.json"
    path.write_bytes(spelled(value))
    for flag in ("-O", "-OO"):
        done = subprocess.run(
            [sys.executable, flag, "-m", "compactproofs.checker", str(path)], capture_output=True, check=False
        )
        assert (done.returncode, done.stdout.splitlines()[-1]) == (1, b"REJECTED")


# --- spares -----------------------------------------------------------------------------------------------


def test_spare_absolute_tolerance() -> None:
    """VNN-COMP/vnncomp2023#4: an absolute tolerance accepts a point outside the box. A margin of -2**-200 is wrong."""
    from tiny_circuits import whisper

    for sign, right in ((1, 2), (-1, 0)):
        given = whisper(sign)
        value = certify(given.model, "margin-tree", given.task)
        assert int(value["claim"]["bounds"]["lower"], 16) == right


@pytest.mark.parametrize(
    "text", ["1/-2", "+1/2", "１/２", "1_0/3", " 1/2 ", "1e-1", "0x1", "1//2", "1/2/3", "", ".5", "5."]
)
def test_spare_spellings_of_rationals(text: str) -> None:
    """quicktions#21, gmpy2#498: parsers of rationals differ. One spelling is read, everything else refused."""
    assert run_on(golden("enumerate"), f"--at-least={text}")[0] == 2


def test_spare_parser_differential_over_a_blank_line() -> None:
    """open-ontologies#186: two verified checkers disagree over a blank line. One document has one spelling."""
    data = spelled(golden("enumerate"))
    for changed in (data + b"\n", b"\n" + data, data.replace(b"{", b"{\n", 1), data.replace(b"\n", b"\r\n"), data[:-1]):
        assert judge(changed).code == "NOT_CANONICAL"


def test_spare_allocation_by_a_hostile_length() -> None:
    """zk-cred-longfellow#73: a mutation test died of a huge allocation."""
    value = golden("enumerate")
    for size in (2**16, 2**16 + 1, 2**40, 10**14):
        for tensor in value["model"]["tensors"]:
            tensor["shape"] = [size] * len(tensor["shape"])
        assert judge(spelled(value)).verdict == "MALFORMED"


def test_spare_holes_do_not_end_with_zero() -> None:
    """carcara: `holey` exits with 0. There is no rule without a check, and "not an error" is no success."""
    from compactproofs.checker.rules import RULES

    assert not {"assume", "axiom", "hole", "trust", "admit", "sorry"} & set(RULES)
    value = golden("enumerate")
    value["proof"][0]["rule"] = "hole"
    status, out, _ = run_on(value)
    assert (status, out.splitlines()[-1]) == (2, "MALFORMED")


def test_spare_ends_rounded_to_nearest() -> None:
    """alkahest#310: the ends of balls were rounded to nearest. Ends at coarse precision still hold the truth."""
    from compactproofs.checker.numbers import Exp, Meter

    for bits, grid in ((8, 8), (8, 16), (9, 12)):
        exp = Exp(bits, grid, Meter(10**9))
        for x in range(0, 9 << grid, max(1, (1 << grid) // 37)):
            value = math.exp(-x / (1 << grid)) * (1 << bits)
            assert exp.end(x, False) - 1e-9 <= value <= exp.end(x, True) + 1e-9


def test_spare_empty_and_cut_chains() -> None:
    """qldpc-cert: an empty log, and one with its tail cut, are OK. Every prefix of every kind is refused."""
    for name in ("enumerate", "union", "gap_classes"):
        data = spelled(golden(name))
        for length in range(0, len(data), 41):
            assert judge(data[:length]).verdict == "MALFORMED"
        steps = golden(name)["proof"]
        for length in range(len(steps)):
            assert judge(spelled(proof(golden(name), steps[:length]))).verdict == "REJECTED"


def test_spare_claim_is_not_echoed_from_the_file() -> None:
    """brian-naughton/verified-circuits: a warning, then VERIFIED with the file's false claim echoed, exit 0."""
    boast = "100% accurate on ImageNet with margin one million"
    for path in (("claim", "architecture"), ("claim", "semantics"), ("claim", "distribution"), ("format",)):
        value = golden("enumerate")
        holder = value if len(path) == 1 else value[path[0]]
        holder[path[-1]] = boast
        status, out, _ = run_on(value)
        assert status == 2
        assert boast not in out
    value = golden("enumerate")
    value["claim"]["bounds"].update(lower="9", upper="9")
    assert run_on(value)[0] == 1
    status, out, _ = run_on(value, "--show")
    assert "not checked" in out  # what is shown before the check says so


def test_spare_cap_before_reading(tmp_path: Path) -> None:
    """jacobian#361: the cap on size must be applied before the file is read."""
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    assert run_command(str(path))[0] == 4


def test_spare_negative_references() -> None:
    """VeriPB fccc890: negative ids reached below the database; in Python steps[-1] silently works."""
    for number in (-1, -2, -21, -(10**9)):
        value = golden("enumerate")
        step_of(value, "conclude")["of"] = number
        assert code(value) == "OUT_OF_RANGE"


def test_spare_debug_and_optimised_builds_agree(tmp_path: Path) -> None:
    """scipopt/vipr: a range check sits inside #ifndef NDEBUG. The whole corpus gets the same verdicts under -OO."""
    data = ROOT / "tests" / "data"
    rows = [row for row in json.loads((data / "index.json").read_text()) if "options" not in row][::6]
    program = (
        "import json, sys\n"
        "from compactproofs.checker.errors import Refusal\n"
        "from compactproofs.checker.kernel import check, read_document\n"
        "for path in sys.stdin.read().split('\\n'):\n"
        "    try:\n"
        "        check(read_document(open(path, 'rb').read()), 10**8, lambda rule, fact: None)\n"
        "        print('VERIFIED')\n"
        "    except Refusal as refusal:\n"
        "        print(refusal.verdict, refusal.code)\n"
    )
    names = "\n".join(str(data / row["file"]) for row in rows)
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], input=names, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{row['verdict']} {row['code']}".strip() for row in rows]


def test_spare_stops_reading_once_the_claim_is_proved() -> None:
    """scipopt/vipr: the rest of the file is never parsed once the claim is proved."""
    value = golden("enumerate")
    value["proof"].append({"rule": "nonsense"})
    value["end"] += 1
    assert code(value) == "UNKNOWN_RULE"


def test_spare_global_best_that_starts_at_zero() -> None:
    """scipopt/vipr: a bound that was never given silently starts at 0. Two checks in one process share nothing."""
    good, bad = spelled(golden("enumerate")), spelled(proof(golden("enumerate"), [{"rule": "conclude", "of": 0}]))
    assert [judge(data).verdict for data in (good, bad, good, bad)] == ["VERIFIED", "REJECTED"] * 2


def test_spare_model_changes_after_it_was_certified(tmp_path: Path) -> None:
    """Vehicle admits it: a network that changes during the run is not noticed. The bytes that were read are hashed."""
    good = tmp_path / "good.json"
    good.write_bytes(spelled(golden("enumerate")))
    value = golden("enumerate")
    model = tmp_path / "model.safetensors"
    from compactproofs.core.model import Tensor, build

    tensors = [
        Tensor(t["name"], t["dtype"], tuple(t["shape"]), base64.b64decode(t["data"])) for t in value["model"]["tensors"]
    ]
    model.write_bytes(safetensors(build("m", tensors, {})))
    assert run_command(str(good), "--model", str(model))[0] == 0
    data = bytearray(model.read_bytes())
    data[-1] ^= 0x80
    model.write_bytes(bytes(data))
    status, _, message = run_command(str(good), "--model", str(model))
    assert (status, "unembed.W_U" in message) == (1, True)


# --- the same reports for mixtures, given answers, the log-loss and programs --------------------------------

NEWER = ("mixture", "mixture_convolution", "given", "log_loss", "log_loss_mixture", "program", "program_mixture")


@pytest.mark.parametrize("name", NEWER)
def test_02_09_newer_kinds_need_every_step(name: str) -> None:
    """drat-trim#31, Marabou#820: no proof, a cut one and one without any of its steps prove nothing."""
    steps = golden(name)["proof"]
    assert code(proof(golden(name), [])) == "NO_CONCLUSION"
    for number in range(len(steps)):
        shorter = judge(spelled(proof(golden(name), [*steps[:number], *steps[number + 1 :]])))
        assert shorter.verdict in ("REJECTED", "MALFORMED")
        assert judge(spelled(proof(golden(name), steps[:number]))).verdict == "REJECTED"


def test_03_premises_of_another_part_are_out_of_scope() -> None:
    """mmverify.py#30: what was shown within one part of a distribution does not hold in another."""
    for name, rule in (("mixture", "margin_tree"), ("mixture_convolution", "margin_convolution")):
        value = golden(name)
        of = step_of(value, "mixture")["of"]
        value["proof"][of[1]] = {**value["proof"][of[0]]}  # the first part's count, stated for the second
        assert code(value) == "PART"
        value["proof"][of[1]]["part"] = 1
        assert code(value) in ("STATED_RESULT", "MAXIMUM"), rule


def test_04_no_premises_of_mixtures_and_losses() -> None:
    """carcara#19: a mixture of no parts has mass 0, a log-loss without counts is 0."""
    value = golden("mixture")
    step_of(value, "mixture")["of"] = []
    assert code(value) == "PREMISES"
    value["claim"]["distribution"]["parts"] = []
    assert code(value) == "DISTRIBUTION"
    value = golden("log_loss")
    step_of(value, "log_loss").update(of=[], upper=[], lower=[])
    assert code(value) == "PREMISES"


@pytest.mark.parametrize("name", NEWER)
def test_05_not_a_number_never_verifies_newer_kinds(name: str) -> None:
    """nnv#446: the log of a sum, and errors of a program, are no numbers either if a weight is none."""
    value = golden(name)
    for tensor in value["model"]["tensors"]:
        assert tensor["dtype"] == "F16"
        for bits in (b"\x00\x7e", b"\x00\x7c"):
            broken = golden(name)
            data = base64.b64decode(tensor["data"])
            found = next(t for t in broken["model"]["tensors"] if t["name"] == tensor["name"])
            found["data"] = base64.b64encode(data[:-2] + bits).decode()
            assert code(resign(broken)) == "NOT_FINITE"


def test_07_numbers_of_losses_survive_their_printing() -> None:
    """alkahest#353: the bounds printed are those that were proved, rounded the safe way."""
    value = golden("log_loss")
    _, out, _ = run_on(value)
    lower, upper = (Fraction(int(value["claim"]["bounds"][key], 16), 1 << 40) for key in ("lower", "upper"))
    printed = [Fraction(text) for text in re.findall(r"\d+\.\d+", out.splitlines()[0])]
    assert [a for a in printed if a <= lower and lower - a < Fraction(1, 1000)]
    assert [a for a in printed if a >= upper and a - upper < Fraction(1, 1000)]


def test_08_a_loss_is_not_compared_with_itself() -> None:
    """lean-kernel-arena#16: witness and claim lowered alike are refused for the truth, not for each other."""
    value = golden("log_loss")
    step, bounds = step_of(value, "log_loss"), value["claim"]["bounds"]
    step["upper"] = [f"{int(n, 16) // 2:x}" for n in step["upper"]]
    bounds["upper"] = f"{int(bounds['upper'], 16) // 2:x}"
    assert code(value) == "LOSS_BOUND"
    value = golden("mixture")
    count, bounds = value["proof"][step_of(value, "mixture")["of"][0]], value["claim"]["bounds"]
    count["right"] = f"{int(count['right'], 16) + 1:x}"
    bounds.update(lower=f"{int(bounds['lower'], 16) + 5:x}", upper=f"{int(bounds['upper'], 16) + 5:x}")
    assert code(value) == "STATED_RESULT"


def test_10_shares_of_many_digits() -> None:
    """leancert-python 2.3.0: limits on digits. A share of 8,192 digits is a number, of more none; neither a crash."""
    for digits, expected in ((8192, "TOTAL"), (8193, "TOO_LONG"), (30_000, "TOO_LONG")):
        value = golden("mixture")
        value["claim"]["distribution"]["parts"][0]["share"] = "1" * digits
        assert code(value) == expected


def test_14_a_tie_has_one_loss() -> None:
    """pytorch#17738: a model whose outputs all tie has the log-loss log(outputs), whatever its argmax would say."""
    value = asked(constant(), "E[log-loss]")
    assert judge(spelled(value)).verdict == "VERIFIED"
    lower, upper = (int(value["claim"]["bounds"][key], 16) for key in ("lower", "upper"))
    with mpmath.workprec(200):
        assert lower <= mpmath.log(2) * 2**40 <= upper
    assert asked(constant(), "accuracy")["claim"]["bounds"]["upper"] == "0"


def constant() -> Model:
    """Two tokens, and weights that are all zero."""
    sizes = {"d_vocab": 2, "d_vocab_out": 2, "n_ctx": 2, "d_model": 1, "d_head": 1}
    return model_of({name: [0.0] * count_of(name, sizes) for name in REQUIRED}, sizes)


def test_spare_no_tolerance_of_losses_and_programs() -> None:
    """VNN-COMP/vnncomp2023#4: one unit of 2^-40 nats, or of a threshold's last place, is no tolerance."""
    for name, key, step in (("log_loss", "upper", -1), ("log_loss_mixture", "lower", 1)):
        value = golden(name)
        value["claim"]["bounds"][key] = f"{int(value['claim']['bounds'][key], 16) + step:x}"
        assert code(value) == "BOUND"
    value = golden("program")
    for margins in (step for step in value["proof"] if step["rule"] == "margins"):
        margins.update(margin_above="0", exponent=0)
    assert code(value) in ("UNDERSTATED", "STATED_RESULT")


def test_spare_negative_parts() -> None:
    """VeriPB fccc890: parts[-1] is a part in Python."""
    value = golden("mixture")
    step_of(value, "margin_tree", 1)["part"] = -1
    assert code(value) == "OUT_OF_RANGE"
    value = golden("mixture")
    step_of(value, "mixture")["of"] = [-2, -1]
    assert code(value) == "OUT_OF_RANGE"


def test_spare_a_mixture_is_not_echoed_from_the_file() -> None:
    """verified-circuits: a boast in a part is refused, and the claim says what the parts are."""
    value = golden("mixture")
    value["claim"]["distribution"]["parts"][0]["note"] = "all of ImageNet"
    status, out, _ = run_on(value)
    assert (status, "ImageNet" in out) == (2, False)
    _, out, _ = run_on(golden("mixture"))
    assert "mixture" in out.splitlines()[0] or "weighted" in out.splitlines()[0]


def test_spare_environment_is_not_read() -> None:
    """verivital/nnv#444: a switch in the environment that was set to 0 counted as on. There is none."""
    nodes = [node for path in CHECKER for node in ast.walk(ast.parse(path.read_text()))]
    words = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert not words & {"environ", "getenv", "environb", "flags"}


@pytest.mark.parametrize("version", ["1", 1.0, True, 2, 0, "1x", None, [1]])
def test_spare_version_is_read_whole(version: object) -> None:
    """scipopt/vipr: the version is read by atoi, so that 1x is 1."""
    value = golden("enumerate")
    value["version"] = version
    assert judge(spelled(value)).verdict == "MALFORMED"


@pytest.mark.parametrize("data", [b"", b"\n", b"\x00", b"\xff\xfe{", "é".encode(), b"null\n", b"[]\n", b"{}\n"])
def test_spare_nothing_and_strange_characters(data: bytes) -> None:
    """mmverify.py accepts empty input, and ends in a traceback at a character that it does not know."""
    assert judge(data).verdict == "MALFORMED"


def test_spare_checker_depends_on_nothing() -> None:
    """rocq-prover/opam#2649: an unbounded dependency broke its user. The checker has none but the standard library."""
    names = {
        (node.module or "").split(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name.split(".")[0]
        for path in CHECKER
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.level == 0)
    }
    assert names <= set(sys.stdlib_module_names)
