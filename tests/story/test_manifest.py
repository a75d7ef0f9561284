# SPDX-License-Identifier: Apache-2.0
"""SageMaker's manifests, in S3 and on a disk, give the order of the folder whose objects they name."""

import json

import pytest
import sets
from cli import headrace, headrace_json


def keys(root):
    return sorted((p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()),
                  key=str.encode)


def augmented(root, base):
    classes = sorted({key.split("/")[0] for key in keys(root)}, key=str.encode)
    return "".join(
        json.dumps({"source-ref": base + key, "class": classes.index(key.split("/")[0]),
                    "class-metadata": {"confidence": 1}}) + "\n" for key in keys(root))


def array(root, base):
    return json.dumps([{"prefix": base}, *keys(root)])


def digest(*arguments, **options):
    got = headrace_json("read", *arguments, "--batch", 16, **options)
    return got["epochs"][0]["order_digest"]


@pytest.mark.parametrize("text", [augmented, array])
@pytest.mark.parametrize("mode", ["stream", "keep", "file"])
def test_a_manifest_names_objects_anywhere_in_its_bucket(text, mode, labelled, labelled_s3, bucket,
                                                         s3_environment, tmp_path):
    name = f"lists/{text.__name__}.manifest"
    bucket.put(name, text(labelled, labelled_s3 + "/").encode())
    place = {"keep": ["--keep-dir", tmp_path], "file": ["--local", tmp_path]}.get(mode, [])
    found = digest(bucket.uri(name), "--mode", mode, *place, env=s3_environment)
    assert found == digest(labelled)


@pytest.mark.parametrize("text", [augmented, array])
def test_a_manifest_of_a_copy_says_what_its_root_is_called(text, labelled, tmp_path):
    listed = tmp_path / "x.manifest"
    listed.write_text(text(labelled, "s3://bucket/set/"))
    arguments = (labelled, "--list", listed)
    done = headrace("read", *arguments)
    assert done.returncode == 1 and "line 1: " in done.stderr and "--list-root" in done.stderr
    assert digest(*arguments, "--list-root", "s3://bucket/set") == digest(labelled)


def test_attribute_names_choose(labelled, tmp_path):
    listed = tmp_path / "x.manifest"
    lines = [json.loads(line) for line in augmented(labelled, "").splitlines()]
    listed.write_text("".join(json.dumps({**line, "other": 7}) + "\n" for line in lines))
    done = headrace("read", labelled, "--list", listed)
    assert done.returncode == 1 and "--attribute-names source-ref,class" in done.stderr
    assert digest(labelled, "--list", listed, "--attribute-names", "source-ref,class") == digest(labelled)


def test_what_is_not_there_is_named_with_its_line(labelled, tmp_path):
    listed = tmp_path / "x.manifest"
    listed.write_text(augmented(labelled, "") + '{"source-ref": "Class_0/none.jpg", "class": 0}\n')
    done = headrace("read", labelled, "--list", listed)
    count = len(sets.samples(labelled))
    assert done.returncode == 1
    assert f"x.manifest, line {count + 1}: " in done.stderr and "no such object" in done.stderr


@pytest.mark.parametrize("uri", ["set", "set/", "./set", "set/set.manifest"])
def test_a_manifest_that_we_wrote_is_read_by_any_name_of_its_folder(uri, labelled, tmp_path):
    """Its pictures lie in a folder that is called as the set is: that is no name of the root."""
    headrace_json("convert", labelled, "--format", "manifest", "--out", "set", cwd=tmp_path)
    assert (tmp_path / "set/set/000000000.jpg").is_file()
    assert digest(uri, cwd=tmp_path) == digest(labelled)
