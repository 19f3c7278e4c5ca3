"""The page of `audit --html`: self-contained, and alive in a real browser (slow; skipped where there is none)."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from made import MODEL, ROOT, SMALL, certificate, run

jinja = importlib.util.find_spec("jinja2") is not None
pytestmark = pytest.mark.skipif(not jinja, reason="the page needs jinja2")
STRATEGIES = ("margin-tree", "cubic", "subcubic:70:tight")
BY_CLASS = ("--strategy", "margin-tree", "--by", "class", "--force")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1240,900",
)  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    files = [certificate(folder, strategy) for strategy in STRATEGIES]
    done = run("certify", "--exact", MODEL, "-o", files[0], "--claim", SMALL, *BY_CLASS)
    assert done.returncode == 0, done.stderr
    done = run("audit", "--html", folder / "report.html", *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("report.html\n")
    return folder / "report.html"


def test_one_file_without_network(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text) < 5_000_000
    assert not re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", text)
    assert "url(" not in text and "@import" not in text and "fetch(" not in text
    assert text.count("<script") == 2


def test_words_stand_without_the_script(page: Path) -> None:
    text = re.sub(r"<script.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert text.count('<span class="verdict">VERIFIED</span>') == len(STRATEGIES)
    for words in ("the model gives the largest of 4 tokens", "union over outputs", "float32", "paper's FLOPs"):
        assert words in text


def test_an_existing_page_stays(page: Path) -> None:
    cert = page.parent / "cubic.json"
    before = page.read_bytes()
    done = run("audit", "--html", page, cert)
    assert done.returncode == 2 and "FILE_EXISTS" in done.stderr
    assert run("audit", "--html", cert, cert, "--force").returncode == 2
    assert page.read_bytes() == before


@pytest.fixture(scope="module")
def driver(page: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests; each of them loads the page afresh."""
    chromium, driver = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    made.set_page_load_timeout(120)
    made.set_script_timeout(120)
    yield made
    made.quit()


@pytest.fixture(params=["light", "dark"])
def browser(request: pytest.FixtureRequest, driver: Any, page: Path) -> Any:
    return opened(driver, page, scheme=request.param)


def opened(driver: Any, page: Path, scheme: str = "light", width: int = 1240) -> Any:
    """The page as it is when its script has run, which `get` waits for; its log is that of this visit."""
    features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]
    media = {"features": [{"name": name, "value": value} for name, value in features]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.get_log("browser")
    driver.get(page.as_uri())
    return driver


def one(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def colours(browser: Any, selector: str) -> int:
    """Different colours on a canvas: 1 on an empty one."""
    script = """
        const canvas = document.querySelector(arguments[0]);
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const seen = new Set();
        for (let i = 0; i < pixels.length; i += 4) seen.add(pixels[i] + ',' + pixels[i + 1] + ',' + pixels[i + 2]);
        return seen.size;"""
    return int(browser.execute_script(script, selector))


@pytest.mark.slow
def test_everything_is_drawn_and_nothing_fails(browser: Any) -> None:
    assert browser.get_log("browser") == []
    for name in ("EQKE", "EQKP", "EVOU", "PVOU", "EU"):
        assert colours(browser, f"[data-circuit={name}]") > 20
    assert colours(browser, "#loss-map") > 3
    assert len(browser.find_elements("css selector", "[data-dot]")) == len(STRATEGIES)
    assert excess(browser) <= 0


def excess(browser: Any) -> int:
    """Pixels by which the page is wider than its window."""
    page = "document.documentElement"
    return int(browser.execute_script(f"return {page}.scrollWidth - {page}.clientWidth"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 760, 1920])
def test_no_width_is_too_small(driver: Any, page: Path, width: int) -> None:
    browser = opened(driver, page, width=width)
    assert excess(browser) <= 0
    labels = browser.find_elements("css selector", "#frontier-plot text")
    assert min(label.size["height"] for label in labels if label.text == "integer operations of the checker") >= 10
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_hover_shows_the_exact_value(browser: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = one(browser, "[data-circuit=EVOU]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas)
    # twice: a browser sends no event for a pointer that is there already
    ActionChains(browser).move_to_element_with_offset(canvas, 3, 3).move_to_element(canvas).perform()
    tip = one(browser, "#tip").text
    found = re.search(r"EVOU, input token (\d+), output (\d+): (\S+)\s+exactly (\S+) · 2\^(\S+) / 4", tip)
    assert found, tip
    decimals, n, exponent = (found[i].replace("−", "-") for i in (3, 4, 5))
    assert float(decimals) == pytest.approx(int(n) * 2.0 ** int(exponent) / 4, rel=1e-5)


@pytest.mark.slow
def test_a_class_shows_its_bounds_and_who_says_so(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    for tab, words in ((0, "checked"), (1, "counted again here, not checked")):
        browser.execute_script("arguments[0].click()", one(browser, f"#tab-{tab}"))
        one(browser, "#loss-map").send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
        note = one(browser, "#loss-note").text
        words = (
            rf"query {tab}, maximum {tab + 1}: .* lost, .*; (exactly .*|at least .* %, at most .*) % right \({words}\)"
        )
        assert re.fullmatch(words, note), note
        summary = one(browser, f"#panel-{tab} summary").text
        assert summary.startswith("Every mixture of classes") and ("NOT checked" in summary) == (tab == 1)


@pytest.mark.slow
def test_keyboard_alone(browser: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    one(browser, "[data-circuit=EU]").send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    note = one(browser, "[data-circuit=EU] ~ .readout").text
    assert "query token 0, output 1" in note and "exactly" in note
    one(browser, "#tab-0").send_keys(Keys.ARROW_RIGHT)
    assert one(browser, "#tab-1").get_attribute("aria-selected") == "true"
    assert one(browser, "#panel-1").is_displayed() and not one(browser, "#panel-0").is_displayed()
    one(browser, "#step-list").send_keys(Keys.HOME)
    assert one(browser, "#step-detail h3").text == "Step 0: circuit"
    one(browser, "#step-list").send_keys(Keys.ARROW_DOWN)
    assert one(browser, "#step-detail h3").text == "Step 1: product"


@pytest.mark.slow
def test_the_proof_can_be_walked_from_its_end(browser: Any) -> None:
    for tab in range(len(STRATEGIES)):
        browser.execute_script("arguments[0].click()", one(browser, f"#tab-{tab}"))
        assert "conclude" in one(browser, "#step-detail h3").text
        for _ in range(30):
            premises = browser.find_elements("css selector", "#step-detail [data-goto]")
            down = [each for each in premises if each.text.split(":")[0] in ("of", "margins", "weights", "scores")]
            if not down:
                break
            browser.execute_script("arguments[0].click()", down[0])
        assert one(browser, "#step-detail h3").text.endswith("circuit")
        assert "centre" in one(browser, "#step-detail .math").text
        numbers = browser.find_elements("css selector", "#step-detail td.exact")
        assert any("2^" in cell.text for cell in numbers)
    assert browser.get_log("browser") == []


@pytest.mark.slow
def test_mean_losses_and_mixtures_have_a_page(driver: Any, tmp_path: Path) -> None:
    accept = ROOT / "tests" / "data" / "accept"
    for name, dots in (("log_loss", 0), ("log_loss_mixture mixture given", 2)):
        page, files = tmp_path / f"{dots}.html", [accept / f"{each}.json" for each in name.split()]
        assert run("audit", "--html", page, *files).returncode == 0
        browser = opened(driver, page, width=400)
        assert len(browser.find_elements("css selector", "[data-dot]")) == dots
        assert "nats apart" in one(browser, "#panel-0").text and "log_loss" in one(browser, "#step-detail h3").text
        assert excess(browser) <= 0
        assert browser.get_log("browser") == []


@pytest.mark.slow
def test_print_shows_all_of_it(browser: Any) -> None:
    import base64

    made = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    data = base64.b64decode(made["data"])
    assert data.startswith(b"%PDF") and len(data) > 20_000
    assert browser.get_log("browser") == []
