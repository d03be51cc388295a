import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoo.data.files import read_parallel, read_tsv, split, write_whole


def written(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return path


def test_a_tsv_line_is_source_tab_target(tmp_path):
    path = written(tmp_path, "p.tsv", "good morning\tgünaydın\nyes\tevet\n")
    pairs, counts = read_tsv(path)
    assert pairs == [("good morning", "günaydın"), ("yes", "evet")]
    assert counts == {"lines": 2, "kept": 2, "blank line": 0, "empty side": 0}


def test_the_last_line_needs_no_line_end(tmp_path):
    assert read_tsv(written(tmp_path, "p.tsv", "a\tb\nc\td"))[0] == [("a", "b"), ("c", "d")]


def test_a_quote_is_an_ordinary_character(tmp_path):
    path = written(tmp_path, "p.tsv", '"Stop\tDur"\n"yes"\t"evet"\n')
    assert read_tsv(path)[0] == [('"Stop', 'Dur"'), ('"yes"', '"evet"')]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
def test_only_a_line_feed_ends_a_line(tmp_path, mark):
    path = written(tmp_path, "p.tsv", f"a{mark}b\tc{mark}d\ne\tf\n")
    assert read_tsv(path)[0] == [(f"a{mark}b", f"c{mark}d"), ("e", "f")]


def test_byte_order_mark_and_carriage_returns_go(tmp_path):
    path = written(tmp_path, "p.tsv", b"\xef\xbb\xbfyes\tevet\r\nno\thay\xc4\xb1r\r\n")
    assert read_tsv(path)[0] == [("yes", "evet"), ("no", "hayır")]


def test_only_one_carriage_return_and_only_at_the_end_goes(tmp_path):
    assert read_tsv(written(tmp_path, "p.tsv", "a\r\tb\r\r\n"))[0] == [("a\r", "b\r")]


def test_outer_blanks_are_kept(tmp_path):
    assert read_tsv(written(tmp_path, "p.tsv", " a \t b\n"))[0] == [(" a ", " b")]


def test_blank_lines_and_blank_sides_are_dropped_and_counted(tmp_path):
    path = written(tmp_path, "p.tsv", "a\tb\n\n  \n\tc\nd\t\u3000\n\t\ne\tf\n")
    pairs, counts = read_tsv(path)
    assert pairs == [("a", "b"), ("e", "f")]
    assert counts == {"lines": 7, "kept": 2, "blank line": 2, "empty side": 3}


def test_a_line_without_a_tab_is_named(tmp_path):
    path = written(tmp_path, "p.tsv", "a\tb\n\nno tab here\n")
    with pytest.raises(ValueError, match=r"p\.tsv, line 3: no tab in 'no tab here'.*target="):
        read_tsv(path)


@pytest.mark.parametrize("line", ["a\tb\tc", "a\t\tb", "a\tb\t"])
def test_a_line_with_more_than_one_tab_is_named(tmp_path, line):
    path = written(tmp_path, "p.tsv", f"a\tb\n{line}\n")
    with pytest.raises(ValueError, match=r"p\.tsv, line 2: 2 tabs in .* replace the others with spaces"):
        read_tsv(path)


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path):
    path = written(tmp_path, "p.tsv", b"a\tb\nc\td\nna\xefve\tsaf\n")
    with pytest.raises(ValueError, match=r"p\.tsv, line 3: byte 0xef is not UTF-8; save the file as UTF-8"):
        read_tsv(path)


def test_a_long_line_is_cut_in_the_message(tmp_path):
    path = written(tmp_path, "p.tsv", "x" * 5000)
    with pytest.raises(ValueError) as caught:
        read_tsv(path)
    assert "x" * 57 + "...'" in str(caught.value)
    assert "x" * 58 not in str(caught.value)


def test_a_missing_file_a_folder_and_an_empty_file_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.tsv: no such file"):
        read_tsv(tmp_path / "none.tsv")
    with pytest.raises(ValueError, match="is a folder where a file is needed"):
        read_tsv(tmp_path)
    for data in (b"", b"\xef\xbb\xbf"):
        with pytest.raises(ValueError, match=r"e\.tsv is empty"):
            read_tsv(written(tmp_path, "e.tsv", data))


def test_a_file_of_blank_lines_has_no_pair(tmp_path):
    with pytest.raises(ValueError, match=r"b\.tsv: 2 lines and no pair with text on both sides"):
        read_tsv(written(tmp_path, "b.tsv", "\n\t\n"))


def test_a_gz_name_is_read_through_gzip(tmp_path):
    path = written(tmp_path, "p.tsv.gz", gzip.compress(b"yes\tevet\n"))
    assert read_tsv(path)[0] == [("yes", "evet")]
    for data in (b"yes\tevet\n", path.read_bytes()[:-9]):
        with pytest.raises(ValueError, match=r"q\.gz: not a whole gzip file"):
            read_tsv(written(tmp_path, "q.gz", data))


def test_parallel_files_are_paired_by_line(tmp_path):
    source = written(tmp_path, "a.en", "yes\r\n\nno\tno\nmaybe\n")
    target = written(tmp_path, "a.tr", "\ufeffevet\nboş\nhayır\n \n")
    pairs, counts = read_parallel(source, target)
    assert pairs == [("yes", "evet"), ("no\tno", "hayır")]
    assert counts == {"lines": 4, "kept": 2, "empty side": 2}


def test_unequal_line_counts_name_the_first_line_without_a_partner(tmp_path):
    two, three = written(tmp_path, "two.txt", "1\n2\n"), written(tmp_path, "three.txt", "1\n2\n3")
    with pytest.raises(ValueError) as caught:
        read_parallel(two, three)
    assert str(caught.value) == (
        f"{three}, line 3: {two} has no such line ({two} has 2 lines, {three} has 3); line n must translate line n, so "
        "add the missing lines or remove the extra ones."
    )
    with pytest.raises(ValueError, match=r"three\.txt, line 3: .*two\.txt has no such line"):
        read_parallel(three, two)


def test_parallel_files_without_a_common_text_line(tmp_path):
    source, target = written(tmp_path, "a.en", "\nyes\n"), written(tmp_path, "a.tr", "evet\n\n")
    with pytest.raises(ValueError, match="no line has text on both sides"):
        read_parallel(source, target)


def test_parallel_files_name_the_file_and_line_of_a_bad_byte(tmp_path):
    source, target = written(tmp_path, "a.en", "yes\nno\n"), written(tmp_path, "a.tr", b"evet\nhay\xfdr\n")
    with pytest.raises(ValueError, match=r"a\.tr, line 2: byte 0xfd"):
        read_parallel(source, target)


side = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=("Cs",)), min_size=1).filter(str.strip)


@given(st.lists(st.tuples(side, side), min_size=1, max_size=8))
def test_any_text_without_tab_and_line_end_is_read_as_written(tmp_path_factory, pairs):
    lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
    path = written(tmp_path_factory.getbasetemp(), "round.tsv", "\ufeff" + lines)
    assert read_tsv(path)[0] == pairs


def test_only_one_byte_order_mark_goes(tmp_path):
    path = written(tmp_path, "p.tsv", "\ufeff\ufeffyes\tevet\n")
    assert read_tsv(path)[0] == [("\ufeffyes", "evet")]


def test_a_write_that_fails_leaves_nothing_half_done(tmp_path, monkeypatch):
    def full(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("zoo.data.files.os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        write_whole(tmp_path / "p.tsv", b"yes\tevet\n")
    assert list(tmp_path.iterdir()) == []


def test_default_sizes_are_five_percent_and_at_most_500():
    def sizes(count):
        return [len(part) for part in split([(str(n), "x") for n in range(count)], seed=3)]

    assert sizes(100) == [90, 5, 5]
    assert sizes(12_000) == [11_000, 500, 500]
    assert sizes(3) == [1, 1, 1]
    assert sizes(2) == [2, 0, 0]


def test_the_split_depends_on_the_seed_alone():
    pairs = [(f"s{n}", f"t{n}") for n in range(200)]
    assert split(pairs, seed=7) == split(list(pairs), seed=7)
    assert split(pairs, seed=7)[2] != split(pairs, seed=8)[2]
    # `printf '1 a' | sha256sum` and so on: in the order of these digests stand c, a, b, e, f, d.
    assert split([(letter, "x") for letter in "abcdef"], seed=1, dev=1, test=2) == (
        [("d", "x"), ("e", "x"), ("f", "x")],
        [("c", "x")],
        [("a", "x"), ("b", "x")],
    )


@given(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), min_size=3, max_size=40),
    st.integers(0, 2**32),
)
def test_no_source_is_in_two_splits_and_no_pair_is_lost(pairs, seed):
    parts = split(pairs, seed=seed)
    assert sorted(parts[0] + parts[1] + parts[2]) == sorted(pairs)
    sources = [{source for source, _ in part} for part in parts]
    assert not sources[0] & sources[1]
    assert not sources[0] & sources[2]
    assert not sources[1] & sources[2]
    assert parts[0]


def test_a_source_too_common_for_dev_stays_in_train():
    pairs = [("ok", str(n)) for n in range(8)] + [("yes", "evet"), ("no", "hayır")]
    for seed in range(5):
        train, dev, test = split(pairs, seed=seed, dev=1, test=1)
        assert sorted(dev + test) == [("no", "hayır"), ("yes", "evet")]
        assert train == pairs[:8]


@pytest.mark.parametrize(("dev", "test"), [(5, 5), (-1, 2), (2, -1), (11, 0)])
def test_sizes_that_leave_nothing_to_train_on_are_refused(dev, test):
    with pytest.raises(ValueError, match=f"dev={dev} and test={test} of 10 pairs"):
        split([(str(n), "x") for n in range(10)], seed=1, dev=dev, test=test)


def test_two_hundred_thousand_lines_are_read_in_a_second(tmp_path):
    path = written(tmp_path, "big.tsv", "the dog sees a cat .\tköpek bir kedi görüyor .\r\n" * 200_000)
    start = time.perf_counter()
    assert len(read_tsv(path)[0]) == 200_000
    # A tenth of a second is usual; the bound allows for a busy machine and not for a quadratic reader.
    assert time.perf_counter() - start < 2
