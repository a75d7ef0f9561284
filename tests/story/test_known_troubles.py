# SPDX-License-Identifier: Apache-2.0
"""Troubles that users of other loaders reported, each as its report has it, that no test nearer to the
code holds."""

import json

import pytest
import sets
from PIL import Image
from cli import headrace, headrace_json

FAST = ["--no-decode", "--batch", "8"]


# NVIDIA/DALI#2766: "input buffer is incomplete".
def test_a_cut_png_follows_the_policy(tmp_path):
    for number in range(10):
        path = tmp_path / f"set/a/{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = sets.picture(number, kind="PNG")
        path.write_bytes(whole[: len(whole) * 2 // 3] if number == 4 else whole)
    done = headrace("read", tmp_path / "set")
    assert done.returncode == 1 and "a/4.png" in done.stderr
    epoch = headrace_json("read", tmp_path / "set", "--on-bad", "skip")["epochs"][0]
    assert (epoch["delivered"], epoch["skipped"]) == (9, 1)
    epoch = headrace_json("read", tmp_path / "set", "--on-bad", "substitute")["epochs"][0]
    assert (epoch["delivered"], epoch["substituted"]) == (9, 1)


# NVIDIA/DALI#309: records with a header and a picture of 0 bytes.
def test_a_picture_of_no_bytes_in_a_record_is_a_bad_sample(labelled, tmp_path):
    pairs = sets.samples(labelled)[:10]
    pairs[6] = (pairs[6][0], b"")
    sets.recordio(tmp_path / "x.rec", pairs)
    done = headrace("read", tmp_path)
    offset = [int(line.split()[1]) for line in (tmp_path / "x.idx").read_text().splitlines()][6]
    assert done.returncode == 1 and f"x.rec#6 @ {offset}: " in done.stderr, done.stderr
    bad = tmp_path / "bad.jsonl"
    epoch = headrace_json("read", tmp_path / "x.rec", *FAST, "--on-bad", "skip", "--quarantine", bad)["epochs"][0]
    assert (epoch["asked"], epoch["delivered"], epoch["skipped"]) == (10, 9, 1)
    (line,) = map(json.loads, bad.read_text().splitlines())
    assert (line["object"], line["record"], line["offset"]) == ("x.rec", 6, offset)


# NVIDIA/DALI#2827, image-rs#560: 16 bits became 8 without a word.
def test_a_png_of_16_bits_is_read_with_a_notice(tmp_path):
    (tmp_path / "set/a").mkdir(parents=True)
    for number in range(3):
        Image.new("I;16", (40, 30), 1000 * number).save(tmp_path / f"set/a/{number}.png")
    (tmp_path / "set/a/plain.png").write_bytes(sets.picture(1, kind="PNG"))
    read = headrace_json("read", tmp_path / "set", "--shuffle", "none", "--threads", "1")
    (notice,) = (n for n in read["notices"] if n["kind"] == "png-16-bit")
    assert notice["count"] == 3 and notice["text"].startswith("a/0.png has 16 bits"), notice
    assert "(3 times)" in headrace("read", tmp_path / "set").stdout


# tensorflow/datasets#2188: "extraneous bytes before marker 0xd9" flooded the log.
def test_what_decodes_with_a_warning_is_said_once(tmp_path):
    (tmp_path / "set/a").mkdir(parents=True)
    for number in range(4):
        whole = sets.picture(number)
        body = whole if number == 0 else whole[:-2] + bytes(40) + whole[-2:]
        (tmp_path / f"set/a/{number}.jpg").write_bytes(body)
    read = headrace_json("read", tmp_path / "set", "--no-seek-index")
    assert read["epochs"][0]["delivered"] == 4
    (notice,) = (n for n in read["notices"] if n["kind"] == "jpeg-warning")
    assert notice["count"] == 3 and "extraneous bytes" in notice["text"], notice
    verified = headrace_json("verify", tmp_path / "set", "--decode")
    (notice,) = (n for n in verified["notices"] if n["kind"] == "jpeg-warning")
    assert notice["count"] == 3 and ".jpg was decoded all the same" in notice["text"], notice


# apache/mxnet#11200, #16740, #7958: the error came from the validation file, and did not say so.
def test_what_is_damaged_in_the_validation_set_is_said_to_be_there(labelled, tmp_path):
    (tmp_path / "Class_0").mkdir()
    (tmp_path / "Class_0/cut.jpg").write_bytes(sets.picture(1)[:300])
    done = headrace("read", labelled, "--val", tmp_path, "--size", "16")
    assert done.returncode == 1
    assert "validation" in done.stderr and "Class_0/cut.jpg" in done.stderr


# webdataset#142: a tar that was cut killed the worker.
def test_of_a_cut_tar_one_picture_is_lost_and_no_other_shard(labelled, tmp_path):
    headrace_json("convert", labelled, "--format", "tar", "--shards", "3", "--out", tmp_path / "set")
    first, *others = sorted((tmp_path / "set").parent.rglob("*.tar"))
    assert len(others) == 2
    whole = headrace_json("read", tmp_path / "set", *FAST)["epochs"][0]["delivered"]
    records = headrace("inspect", first, "--records", "--json").stdout.splitlines()[:-1]
    last = json.loads(records[-1])
    with first.open("r+b") as file:
        file.truncate(last["offset"] + 700)  # its label is there, and of its picture the beginning
    done = headrace("read", tmp_path / "set", *FAST)
    assert done.returncode == 1 and first.name in done.stderr, done.stderr
    epoch = headrace_json("read", tmp_path / "set", *FAST, "--on-bad", "skip")["epochs"][0]
    assert (whole, epoch["delivered"]) == (100, 99)
    assert epoch["asked"] == 99 + epoch["skipped"], "its label alone, and the damage"


# amazon-sagemaker-examples#562, #4056: "header does not start with the magic number".
def test_text_where_records_were_promised_is_named(tmp_path):
    (tmp_path / "train.rec").write_text('{"source-ref": "s3://b/k.jpg", "class": 1}\n' * 50)
    done = headrace("read", tmp_path, "--format", "recordio")
    assert done.returncode == 1
    assert "corrupt: train.rec#0 @ 0: 2150 bytes: no RecordIO magic" in done.stderr, done.stderr


# NVIDIA/DALI#6195, webdataset#65, #188, #68: more shards than readers; fewer shards than ranks.
def test_shards_need_not_fit_threads_and_ranks(labelled, tmp_path):
    wanted = headrace_json("read", labelled, *FAST)["epochs"][0]["order_digest"]
    for shards in (1, 20):
        out = tmp_path / str(shards)
        headrace_json("pack", labelled, "--format", "recordio", "--shards", shards, "--out", out)
        one = headrace_json("read", out, *FAST, "--threads", "1", "--requests", "1")["epochs"][0]
        assert one["delivered"] == 100 and one["order_digest"] == wanted
        total = delivered = 0
        for rank in range(8):
            epoch = headrace_json("read", out, "--no-decode", "--batch", "1", "--world-size", "8", "--rank",
                                  rank)["epochs"][0]
            delivered += epoch["delivered"]
            total += int(epoch["order_digest"], 16)
        assert delivered == 100 and f"{total & sets.MASK:032x}" == wanted


# apache/mxnet#12240: a validation shard smaller than a batch crashed in the 17th epoch.
@pytest.mark.parametrize("rank", [0, 3])
def test_a_validation_set_smaller_than_a_batch_does_in_every_epoch(labelled, tmp_path, rank):
    for number in range(3):
        path = tmp_path / f"Class_0/{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(sets.picture(number))
    result = headrace_json("read", labelled, "--val", tmp_path, "--no-decode", "--batch", "64", "--epochs", "18",
                           "--world-size", "4", "--rank", rank)
    assert [e["delivered"] for e in result["validation"]] == [1 if rank < 3 else 0] * 18
    assert len({e["set_digest"] for e in result["validation"]}) == 1


# google/grain 0.2.17: texts of different lengths were cut; labels and paths of any length survive.
def test_labels_and_paths_of_different_lengths_survive(labelled, tmp_path):
    pictures = sorted(labelled.rglob("*.jpg"))[:6]
    root = tmp_path / "set"
    names = ["a.jpg", "b" * 120 + ".jpg", "ünï/cödé.jpg", "c" * 90 + "/" + "d" * 150 + ".jpg", "e/f.jpg", "g.jpg"]
    lines = []
    for number, (name, picture) in enumerate(zip(names, pictures, strict=True)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(picture.read_bytes())
        labels = "\t".join(str(number + k / 4) for k in range(3))
        lines.append(f"{number}\t{labels}\t{name}\n")
    (tmp_path / "train.lst").write_text("".join(lines))
    source = [root, "--list", tmp_path / "train.lst"]
    wanted = headrace_json("read", *source, *FAST)["epochs"][0]
    for target in ("recordio", "tar", "mds", "tfrecord"):
        done = headrace("convert", *source, "--format", target, "--out", tmp_path / target)
        assert done.returncode == 0, done.stderr
        got = headrace_json("read", tmp_path / target, *FAST)["epochs"][0]
        assert got["order_digest"] == wanted["order_digest"], target
        if target == "recordio":
            continue  # it has no place for a path
        headrace_json("convert", tmp_path / target, "--format", "tar", "--out", tmp_path / f"{target}-2")
        told = headrace("inspect", tmp_path / f"{target}-2", "--records", "--json").stdout.splitlines()[:-1]
        keys = {json.loads(line)["key"] for line in told}
        assert {name.removesuffix(".jpg") for name in names if "/" in name} <= keys, target


# MXNet keeps labels as float32: above 2^24 not every whole number is one.
def test_labels_that_float32_does_not_hold_are_said(labelled, tmp_path):
    pictures = sorted(p.relative_to(labelled).as_posix() for p in labelled.rglob("*.jpg"))[:2]
    (tmp_path / "train.lst").write_text(f"0\t16777220\t{pictures[0]}\n1\t1\t{pictures[1]}\n")
    report = headrace_json("convert", labelled, "--list", tmp_path / "train.lst", "--format", "recordio", "--out",
                           tmp_path / "out")
    assert [n["count"] for n in report["notices"] if n["kind"] == "label-precision"] == [1]


# A container that was made and never written: "no samples" of which of the folder's files?
@pytest.mark.parametrize("name", ["a.rec", "a.tfrecord"])
def test_an_empty_container_is_named(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    for uri in (tmp_path / name, tmp_path):
        done = headrace("verify", uri)
        assert done.returncode == 1
        assert f"{tmp_path / name}: no samples" in done.stderr and "copying was finished" in done.stderr


def everything(root):
    return {p.relative_to(root).as_posix(): (p.stat().st_mtime_ns, p.is_file() and p.read_bytes())
            for p in [root, *root.rglob("*")]}


# LitData's raw mode: an index was written into the user's bucket.
@pytest.mark.parametrize("form", ["folder", "recordio", "tar", "tfrecord", "mds"])
def test_nothing_is_written_beside_the_set(form, labelled, tmp_path):
    root = tmp_path / "set"
    headrace_json("convert", labelled, "--format", form, "--out", root)
    for index in root.glob("*.idx"):
        index.unlink()  # it is scanned, and an index made
    before = everything(root)
    own = ["--keep-dir", tmp_path / "keep", "--index-dir", tmp_path / "indexes"]
    headrace_json("read", root, "--mode", "keep", *own, "--epochs", "2", "--size", "16")
    headrace_json("read", root, "--mode", "direct", "--snapshot", "refresh", "--snapshot-file",
                  tmp_path / "snapshot", "--size", "16")
    headrace_json("read", root, "--mode", "file", "--local", tmp_path / "local", "--size", "16")
    headrace_json("verify", root, "--decode", "--report", tmp_path / "report.html")
    assert headrace("inspect", root, "--records", "--json").returncode == 0
    assert everything(root) == before


# The same in S3, where an index would be asked for again by every job.
@pytest.mark.parametrize("mode", ["stream", "keep", "file"])
def test_nothing_is_written_into_the_bucket(mode, packed, bucket, s3_environment, tmp_path):
    uri = bucket.upload(packed, f"untouched-{mode}")

    def listed():
        answer = bucket.client.list_objects_v2(Bucket=bucket.name, Prefix=f"{bucket.prefix}/untouched-{mode}/")
        return [(each["Key"], each["LastModified"], each["ETag"]) for each in answer["Contents"]]

    before = listed()
    place = {"keep": ["--keep-dir", tmp_path], "file": ["--local", tmp_path]}.get(mode, [])
    headrace_json("read", uri, "--mode", mode, *place, "--epochs", "2", "--size", "16", env=s3_environment)
    headrace_json("verify", uri, env=s3_environment)
    assert len(before) == 2 and listed() == before


def test_a_thousand_pictures_in_six_forms_are_one_order(tmp_path):
    folder = sets.folder(tmp_path / "folder", classes=10, per_class=100, width=24, height=24)
    forms = [folder]
    for target in ("recordio", "tfrecord", "tar", "mds", "manifest"):
        headrace_json("convert", folder, "--format", target, "--out", tmp_path / target)
        forms.append(tmp_path / target)
    results = [headrace_json("read", form, *FAST) for form in forms]
    assert [r["samples"] for r in results] == [1000] * 6
    assert len({r["epochs"][0]["order_digest"] for r in results}) == 1
    assert len({r["format"] for r in results}) == 6
    converted = [headrace_json("verify", form) for form in forms]
    assert {v["end"] for v in converted} == {"clean"}
    assert len({v["set_digest"] for v in converted}) == 1
