"""Costs against the specification's numbers and the published code's own counters."""

from __future__ import annotations

import pytest
from compactproofs.core.cost import (
    Sizes,
    attention_class,
    brute_force_dimensions,
    brute_force_flops,
    cubic_dimensions,
    cubic_flops,
    direct_class,
    power_of_two,
    subcubic_class,
    subcubic_dimensions,
    subcubic_flops,
    svd,
)
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.grid import GROUPS, choice, choices

MAIN = Sizes(4, 64, 32)


def test_brute_force_flops_are_the_published_constant() -> None:
    assert brute_force_flops(MAIN) == 876_123_000_832


def test_the_shape_fault_gives_what_the_published_counter_prints() -> None:
    assert brute_force_flops(MAIN, broadcast_fault=True) == 141_029_630_021_632


@pytest.mark.parametrize(
    ("k", "v", "own", "faulty"),
    [(4, 64, 39.67, 47.00), (5, 64, 46.01, 53.66), (10, 64, 77.08, 85.70), (10, 128, 87.45, 95.70),
     (20, 64, 138.21, 147.72)],
)  # fmt: skip
def test_brute_force_flops_of_every_study(k: int, v: int, own: float, faulty: float) -> None:
    assert power_of_two(brute_force_flops(Sizes(k, v, 32))) == pytest.approx(own, abs=0.01)
    assert power_of_two(brute_force_flops(Sizes(k, v, 32), True)) == pytest.approx(faulty, abs=0.01)


@pytest.mark.parametrize(
    ("k", "v", "flops"),
    [(4, 64, 35_087_840), (5, 64, 52_397_344), (10, 64, 193_981_664), (10, 128, 1_540_696_512), (20, 64, 752_334_304)],
)
def test_cubic_flops_of_every_study(k: int, v: int, flops: int) -> None:
    assert cubic_flops(Sizes(k, v, 32)) == flops


@pytest.mark.parametrize(("number", "published"), [(3, 2_499_718), (4, 1_969_414), (70, 3_770_056)])
def test_subcubic_flops_are_near_the_published_counts(number: int, published: int) -> None:
    assert subcubic_flops(MAIN, choice(number)) == pytest.approx(published, rel=0.03)


def test_the_price_of_subproducts_is_exactly_the_published_one() -> None:
    assert subcubic_flops(MAIN, choice(3)) - subcubic_flops(MAIN, choice(4)) == 2_499_718 - 1_969_414


def test_svd_convention() -> None:
    assert svd(64, 32) == 2 * 33 * 2048 + 96 * (2 * 1024 + 32) + 7 * 1024


@pytest.mark.parametrize(
    ("k", "v", "brute", "cubic"),
    [(4, 64, 30, 12_800), (5, 64, 36, 12_928), (10, 64, 66, 13_568), (10, 128, 77, 51_712), (20, 64, 126, 14_848)],
)
def test_dimensions_of_every_study(k: int, v: int, brute: int, cubic: int) -> None:
    assert brute_force_dimensions(Sizes(k, v, 32)) == 1 << brute
    assert cubic_dimensions(Sizes(k, v, 32)) == cubic


def test_subcubic_dimensions_span_the_specified_range() -> None:
    found = {c.number: subcubic_dimensions(MAIN, c) for c in choices()}
    assert min(found.values()) == 4290 == found[81] == found[91]
    assert max(found.values()) == 10_370 == found[9] == found[29]


def test_the_grid_has_the_papers_numbers_and_groups() -> None:
    every = list(choices())
    assert [c.number for c in every] == list(range(1, 101))
    assert choice(69).name == "max_diff_exact,mean_query+diff,exact_EQKE+max_diff_exact"
    assert choice(100).description == (
        "EUPU-global-max-diff-exact--attn-drop-average-query-per-output-logit-reasoning--attn-err-max-diff-exact"
    )
    assert [sum(c.group == group for c in every) for group in GROUPS] == [8, 20, 12, 30, 12, 18]


@pytest.mark.parametrize("number", [0, 101])
def test_numbers_outside_the_grid_are_refused(number: int) -> None:
    with pytest.raises(CompactProofsError, match="STRATEGY_NUMBER"):
        choice(number)


def test_classes_follow_the_options() -> None:
    assert direct_class(choice(1)) == "O(v d)"
    assert attention_class(choice(4)) == "O(v d + d²)"
    assert subcubic_class(choice(69)) == "O(v² k² + [v² d + v d²] + v² d)"


def test_binary_logarithm_of_a_number_beyond_doubles() -> None:
    assert power_of_two(1 << 5000) == 5000
