# SPDX-License-Identifier: Apache-2.0
"""One job in every mode: the rows, the digests, the report; and comparisons that must fail."""

import json
import os
import shutil
import signal
import subprocess
import time

import pytest
import sets
from cli import HEADRACE, headrace

FAST = ["--repeats", 1, "--epochs", 2, "--batch", 16, "--size", 32]


@pytest.fixture(scope="module")
def compared(labelled, labelled_s3, packed, packed_s3, s3_environment, tmp_path_factory):
    """Both forms in all five modes: (the object on stdout, the folder of the report)."""
    folder = tmp_path_factory.mktemp("compare")
    done = headrace("compare", labelled_s3, packed_s3, "--local", labelled, "--local", packed, *FAST,
                    "--keep-dir", folder / "scratch", "--instance", "p3.2xlarge",
                    "--report", folder / "out/report.html", "--json", env=s3_environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout), folder


def test_each_mode_and_form_is_a_row(compared):
    rows = compared[0]["rows"]
    assert [(row["format"], row["mode"]) for row in rows] == [
        (form, mode) for form in ("folder", "recordio")
        for mode in ("direct", "file", "stream", "keep", "fastfile", "pipe")]
    # Where no file system can be mounted, fastfile is not run, either; test_mount.py looks at that.
    not_run = [row for row in rows if row["status"] != "ok" and row["mode"] != "fastfile"]
    assert [(row["format"], row["mode"], row["status"]) for row in not_run] == [("folder", "pipe", "not_run")]
    assert "needs packing" in not_run[0]["why"] and "pairs" in not_run[0]["why"]
    measured = ["launch_seconds", "samples_per_second", "first_epoch_seconds", "later_epoch_seconds",
                "total_seconds", "spread", "accelerator_busy", "cost_usd", "bytes_origin", "requests",
                "cold", "order_digest", "set_digest"]
    assert all(not_run[0][field] is None for field in measured)


# Promise M1: Every mode delivers the same samples in the same order.
def test_all_rows_have_one_order_digest_and_one_set_digest(compared, labelled):
    rows = [row for row in compared[0]["rows"] if row["status"] == "ok"]
    assert len({row["order_digest"] for row in rows}) == 1
    assert {row["set_digest"] for row in rows} == {sets.set_digest(sets.samples(labelled))}
    assert compared[0]["digests_agree"] is True


def test_figures_make_sense(compared):
    for row in compared[0]["rows"]:
        if row["status"] != "ok":
            continue
        # the start of a process is known to 10 ms
        assert 0 < row["launch_seconds"] <= row["total_seconds"] + 0.02
        assert row["samples_per_second"] > 0
        assert row["cost_usd"] > 0
        assert row["samples"] == 100
        assert row["cold"] == ("verified" if row["mode"] == "direct" else "unverified")
    direct = compared[0]["rows"][0]
    assert direct["cost_usd"] == pytest.approx(direct["total_seconds"] * 3.06 / 3600, rel=0.01)


def test_the_report_opens_offline_and_results_lie_beside_it(compared):
    result, folder = compared
    assert sorted(os.listdir(folder / "out")) == ["report.html", "results.json"]
    assert json.loads((folder / "out/results.json").read_text()) == result
    page = (folder / "out/report.html").read_text()
    assert "Chart.js" in page
    for outside in ("src=\"", "href=\"", "@import", "url("):
        assert outside not in page
    assert os.listdir(folder / "scratch") == [], "files of the runs stay behind"


def test_a_recommendation_has_reasons_with_figures(compared):
    advice = compared[0]["recommendation"]
    assert advice["mode"] in {"direct", "file", "stream", "keep", "fastfile", "pipe"}
    assert advice["runner_up"] != advice["mode"]
    for criterion in ("Time: ", "Speed: ", "Cost: ", "Manageability: "):
        assert any(sentence.startswith(criterion) for sentence in advice["because"])


@pytest.mark.parametrize("what", ["another picture", "one less"])
def test_a_local_copy_that_differs_fails_loudly(what, labelled, labelled_s3, s3_environment, tmp_path):
    other = shutil.copytree(labelled, tmp_path / "other")
    victim = next(other.rglob("*.jpg"))
    victim.unlink()
    if what == "another picture":
        victim.write_bytes(sets.picture(999))
    done = headrace("compare", labelled_s3, "--local", other, "--modes", "direct,stream", *FAST,
                    "--json", env=s3_environment)
    assert done.returncode == 1
    if what == "one less":  # which needs no digest
        assert "the copy has 99" in done.stderr and "100" in done.stderr, done.stderr
    else:
        assert "set digests differ" in done.stderr
        assert json.loads(done.stdout)["digests_agree"] is False


def test_a_copy_that_alone_is_read_is_proven_by_the_source(labelled, tmp_path):
    copy = shutil.copytree(labelled, tmp_path / "copy")
    done = headrace("compare", labelled, "--local", copy, "--modes", "direct", *FAST, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    proof = result["tables"][0]["sets"][0]["source_set_digest"]
    assert proof == result["rows"][0]["set_digest"] == sets.set_digest(sets.samples(labelled))

    next(copy.rglob("*.jpg")).write_bytes(sets.picture(999))
    done = headrace("compare", labelled, "--local", copy, "--modes", "direct", *FAST, "--json")
    assert done.returncode == 1
    assert f"the sets differ: {copy}" in done.stderr and str(labelled) in done.stderr
    assert json.loads(done.stdout)["digests_agree"] is False

    next(copy.rglob("*.jpg")).unlink()
    done = headrace("compare", labelled, "--local", copy, *FAST, "--json")
    assert done.returncode == 1 and done.stdout == ""
    assert "the copy has 99 samples" in done.stderr and "has 100" in done.stderr


def test_reading_in_parts_is_a_row_of_its_own_that_shows_what_it_saves(tmp_path):
    photos = sets.detailed_folder(tmp_path / "photos", 32)
    arguments = ["compare", photos, "--modes", "direct,keep", "--keep-medium", "ebs-gp3", "--partial-reads",
                 "--repeats", 1, "--epochs", 3, "--batch", 8,
                 "--budget", "1M"]  # an epoch is 2 MB: none is read ahead before all its pictures have been seen
    done = headrace(*arguments, "--report", tmp_path / "report.html", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    _, whole, parts = result["rows"]
    assert [row["partial_reads"] for row in result["rows"]] == [False, False, True]
    assert whole["keep_medium"] == parts["keep_medium"] == "ebs-gp3"
    assert whole["order_digests"] == parts["order_digests"]
    assert 0 < parts["bytes_cache"] < whole["bytes_cache"]
    saved = [text for text in result["recommendation"]["because"] if text.startswith("In parts: ")]
    assert len(saved) == 1 and "% less; a later epoch took" in saved[0]
    assert json.loads((tmp_path / "results.json").read_text()) == result
    text = headrace(*arguments).stdout
    assert "keep, in parts" in text and "cache ebs-gp3" in text and "from cache" in text
    assert "In parts: " in text


def test_a_mode_that_fails_is_a_row_and_the_others_still_run(labelled, tmp_path):
    broken = shutil.copytree(labelled, tmp_path / "broken")
    next(broken.rglob("*.jpg")).write_bytes(b"\xff\xd8 no picture")
    done = headrace("compare", labelled, "--local", broken, "--modes", "direct,stream", *FAST, "--json")
    assert done.returncode == 1
    rows = json.loads(done.stdout)["rows"]
    assert [row["status"] for row in rows] == ["failed", "ok"]
    assert rows[0]["why"] and rows[0]["total_seconds"] is None
    assert f"mode direct failed on {labelled}: {rows[0]['why']}" in done.stderr


def test_an_experiment_file_makes_tables(labelled, packed, tmp_path):
    experiment = tmp_path / "experiment.yaml"
    experiment.write_text(f"uri: [{labelled}, {packed}]\nmodes: [direct]\nrepeats: 1\nepochs: 1\n"
                          "tables:\n  - name: as it is\n  - {name: slower, medium: nvme}\n")
    done = headrace("compare", experiment, "--size", 32)
    assert done.returncode == 0, done.stderr
    for part in ("== as it is ==", "== slower ==", "folder, 100 pictures", "recordio, 100 pictures"):
        assert part in done.stdout


@pytest.mark.parametrize("text,advice", [
    ("uri: /nowhere\nepoch: 3\n", 'is "epochs" meant?'),
    ("epochs: 3\n", "no URI"),
    ("uri: [a\n", "YAML"),
])
def test_a_wrong_experiment_file_is_a_usage_error(text, advice, tmp_path):
    (tmp_path / "wrong.yml").write_text(text)
    done = headrace("compare", tmp_path / "wrong.yml")
    assert done.returncode == 2
    assert advice in done.stderr and "wrong.yml" in done.stderr or "no URI" in done.stderr
    assert done.stdout == ""


def test_what_hinders_all_modes_is_said_at_once(labelled, tmp_path):
    for arguments, words in [((tmp_path / "missing",), "missing"), ((labelled, "--prices", tmp_path / "none.yaml"), "none.yaml")]:
        done = headrace("compare", *arguments)
        assert done.returncode == 1
        assert words in done.stderr and done.stdout == ""


def test_ctrl_c_ends_it_within_a_second_and_leaves_nothing(labelled, tmp_path):
    scratch = tmp_path / "scratch"
    running = subprocess.Popen(
        [HEADRACE, "compare", labelled, "--modes", "direct", "--accelerator", "emulated:1",
         "--keep-dir", scratch], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not scratch.exists() or not os.listdir(scratch):
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    time.sleep(0.3)  # into the run
    begin = time.monotonic()
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=30)
    assert running.returncode == 130
    assert time.monotonic() - begin < 3
    assert out == b"" and os.listdir(scratch) == []
