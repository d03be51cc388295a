import json
import os
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoo.data import libreoffice
from zoo.data.libreoffice import CorpusUnavailableError, cache_folder, fault, load, paragraphs, read_trees

PAGES = {
    "en-US": {
        "swriter/a.html": '<p id="p1">Close the window.</p><p id="p2">Save <b>all</b> files.</p>',
        "scalc/b.html": '<h1 id="h1">Sheets</h1>',
    },
    "tr": {
        "swriter/a.html": '<p id="p1">Pencereyi kapatın.</p><p id="p2">Tüm <b>dosyaları</b> kaydedin.</p>',
        "scalc/b.html": '<h1 id="h1">Sayfalar</h1>',
    },
}
ROWS = [
    ("scalc/b.html", "Sheets", "Sayfalar"),
    ("swriter/a.html", "Close the window.", "Pencereyi kapatın."),
    ("swriter/a.html", "Save all files.", "Tüm dosyaları kaydedin."),
]
APT = """#!/bin/sh
echo "$LC_ALL $@" >> "{home}/calls"
shift
for name in "$@"; do echo whole > "${{name}}_4%3a7.4-1_all.deb"; done
"""
DPKG = """#!/bin/sh
name=${{2%%_*}}
mkdir -p "$3" && cp -R "{home}/debs/$name/." "$3"
"""


def grow(root, pages):
    for page, html in pages.items():
        (root / page).parent.mkdir(parents=True, exist_ok=True)
        (root / page).write_text(html, "utf-8")


@pytest.fixture
def debian(tmp_path, monkeypatch):
    """A Debian of two shell scripts: gives a function that replaces one of them."""
    for package, language in (("en-us", "en-US"), ("tr", "tr")):
        root = tmp_path / f"debs/libreoffice-help-{package}/usr/share/libreoffice/help/{language}/text"
        grow(root, PAGES[language])
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    def install(name, script):
        path = tmp_path / "bin" / name
        path.write_text(script.format(home=tmp_path))
        path.chmod(0o755)

    install("apt-get", APT)
    install("dpkg-deb", DPKG)
    return install


def calls(tmp_path):
    path = tmp_path / "calls"
    return path.read_text().splitlines() if path.exists() else []


def test_text_loses_tags_and_keeps_characters():
    html = (
        '<p id="a" class="x">Press <span class="k"><b>Ctrl</b></span>+<i>C</i> &amp; \n  wait&nbsp;now&#33;</p>'
        '<h2 id="b">G\u00fcn soft\u00adhyphen</h2><p id="c">u\u0308<br>two<img src="x.png" alt="no"></p>'
    )
    assert paragraphs(html) == {"a": "Press Ctrl+C & wait now!", "b": "Gün softhyphen", "c": "ü two"}


def test_text_outside_blocks_in_scripts_and_in_the_frame_of_a_page_is_left_out():
    html = (
        "<title>no</title><script>var p = '<p id=\"s\">no</p>';</script><header><p>no</p></header>loose"
        '<div><p id="a">yes</p></div>loose<footer><p>Title is: no</p></footer>'
    )
    assert paragraphs(html) == {"a": "yes"}


def test_a_block_without_an_end_tag_ends_at_the_next_block_or_the_end():
    assert paragraphs('<p id="a">one<p id="b">two <b>bold') == {"a": "one", "b": "two bold"}


def test_repeated_and_missing_ids_are_numbered():
    html = '<p id="a">1</p><p>2</p><p id="a">3</p><p id="">4</p><p id="a">5</p>'
    assert paragraphs(html) == {"a": "1", "#0": "2", "a#1": "3", "#1": "4", "a#2": "5"}


def test_of_inline_alternatives_the_last_is_read():
    html = (
        '<p id="a">Press <span class="switchinline"><span hidden="true" class="MAC"><span>Option</span></span>'
        '<span hidden="true"><span>Alt</span></span></span>+<span>Enter</span>.</p>'
        '<p id="b">One <span hidden="true">alone</span> stays.</p>'
    )
    assert paragraphs(html) == {"a": "Press Alt+Enter.", "b": "One alone stays."}


@given(st.text(st.characters(exclude_characters="<&\u00ad\u200b\u2060\ufeff", exclude_categories=("Cs",))))
def test_any_plain_text_comes_back_with_single_spaces(text):
    read = paragraphs(f'<p id="a">{text}</p>')["a"]
    assert read == " ".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("Close the window.", "Pencereyi kapatın.", None),
        ("Close the window.", "Close the window.", "copy of the source"),
        ("Click the icon .", "click the icon.", "copy of the source"),
        ("a " * 60, "b " * 60, None),
        ("a " * 61, "b " * 60, "length"),
        ("a " * 60, "b " * 61, "length"),
        ("", "evet", "length"),
        ("abc 12", "üç harf", None),
        ("abc 123", "üç harf", "few letters"),
        ("three letters", "üçh 123", "few letters"),
        ("Use the <b> tag", "Etiketi kullanın", "markup"),
        ("Greater than", "Büyüktür > işareti", "markup"),
        ("See http://example.org now", "Şimdi siteye bakın", "URL"),
        ("See the site now please", "Şimdi www.example.org sitesine bakın", "URL"),
        ("Save the file %s now", "Dosyayı şimdi kaydedin", "placeholder"),
        ("Save the file now", "Dosyayı şimdi kaydedin %1", "placeholder"),
        ("Start %PRODUCTNAME now", "Şimdi başlatın", "placeholder"),
        ("Width is %-5.2f points", "Genişlik nokta", "placeholder"),
        ("Use the {name} field", "Alanı kullanın", "placeholder"),
        ("Use the field", "Alanı $[officename] içinde kullanın", "placeholder"),
        ("Zoom to 50% of the size", "Boyutun %50 kadarına yakınlaştır", None),
        ("one", "bir iki üç dört beş altı", None),
        ("one", "bir iki üç dört beş altı yedi", "length ratio"),
        ("a b c d e f g h i j", "bir iki", "length ratio"),
    ],
)
def test_each_reason_to_drop_a_pair(source, target, reason):
    assert fault(source, target) == reason


def test_pages_and_ids_are_matched_and_what_is_dropped_is_counted(tmp_path):
    grow(
        tmp_path / "en",
        {
            "a/1.html": '<p id="x">Yes</p><p id="y">No</p><p id="z">OK</p><p id="e"></p>',
            "b.html": '<p id="x">Yes</p><p id="only">Here</p>',
            "gone.html": '<p id="x">Lost</p>',
        },
    )
    grow(
        tmp_path / "tr",
        {
            "a/1.html": '<p id="y">Hayır</p><p id="x">Evet</p><p id="z">OK</p><p id="e"></p>',
            "b.html": '<p id="x">Evet</p>',
            "new.html": '<p id="x">Yeni</p>',
        },
    )
    rows, counts = read_trees(tmp_path / "en", tmp_path / "tr")
    assert rows == [("a/1.html", "Yes", "Evet"), ("a/1.html", "No", "Hayır")]
    assert counts == {"pages": 2, "paragraphs": 5, "kept": 2, "copy of the source": 1, "no text": 1, "duplicate": 1}


def test_elements_without_an_id_are_matched_only_where_both_pages_have_the_same_elements(tmp_path):
    grow(
        tmp_path / "en",
        {"same.html": '<p>One</p><p id="a">Two</p><p>Three</p>', "other.html": '<p>Four</p><p id="a">Five</p>'},
    )
    grow(
        tmp_path / "tr",
        {"same.html": '<p>Bir</p><p id="a">İki</p><p>Üç</p>', "other.html": '<p id="a">Beş</p><p>Yeni</p><p>Dört</p>'},
    )
    rows, _ = read_trees(tmp_path / "en", tmp_path / "tr")
    assert rows == [
        ("other.html", "Five", "Beş"),
        ("same.html", "One", "Bir"),
        ("same.html", "Two", "İki"),
        ("same.html", "Three", "Üç"),
    ]


def test_the_first_load_downloads_and_the_second_reads_the_cache(tmp_path, debian):
    first = load("tr", tmp_path / "cache")
    assert first[0] == ROWS
    assert first[1] == {"pages": 2, "paragraphs": 3, "kept": 3}
    assert first[2].startswith("MPL-2.0, LibreOffice contributors; ")
    assert "libreoffice-help-en-us 4:7.4-1, libreoffice-help-tr 4:7.4-1" in first[2]
    assert load("tr", tmp_path / "cache") == first
    assert calls(tmp_path) == ["C download libreoffice-help-en-us libreoffice-help-tr"]
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["libreoffice-help-en-tr-1.json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: b"",
        lambda data: data.replace(b"Sheets", b"Sheetz"),
        lambda data: data.partition(b"\n")[2],
        lambda data: b"\xff\x00" + data,
    ],
    ids=["cut short", "empty", "changed", "no digest", "other bytes"],
)
def test_a_damaged_cache_file_is_made_again(tmp_path, debian, damage):
    load("tr", tmp_path)
    path = tmp_path / "libreoffice-help-en-tr-1.json"
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert load("tr", tmp_path)[0] == ROWS
    assert path.read_bytes() == whole
    assert json.loads(whole.partition(b"\n")[2])["rows"][0] == list(ROWS[0])
    assert len(calls(tmp_path)) == 2


def refused(tmp_path):
    with pytest.raises(CorpusUnavailableError) as caught:
        load("tr", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    message = str(caught.value)
    assert message.endswith("'toy-en-tr' and your own files need no download.")
    assert "\n" not in message
    return message


def test_a_machine_without_the_debian_tools(tmp_path, debian, monkeypatch):
    (tmp_path / "bin" / "dpkg-deb").unlink()
    # The real programs must not be found, and the script for `apt-get` needs none but its shell.
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "dpkg-deb is not on this machine" in refused(tmp_path)
    (tmp_path / "bin" / "apt-get").unlink()
    assert "apt-get is not on this machine" in refused(tmp_path)


def test_a_failing_download_is_told_in_the_words_of_apt(tmp_path, debian):
    debian("apt-get", "#!/bin/sh\necho 'E: Could not resolve host' >&2\necho 'W: unsandboxed' >&2\nexit 100\n")
    message = refused(tmp_path)
    assert "apt-get download libreoffice-help-en-us libreoffice-help-tr failed and said" in message
    assert "'E: Could not resolve host'" in message
    assert "apt-get update" not in message


def test_an_unknown_package_asks_for_apt_get_update(tmp_path, debian):
    debian("apt-get", "#!/bin/sh\necho 'E: Unable to locate package libreoffice-help-tr' >&2\nexit 100\n")
    assert "run `apt-get update` first" in refused(tmp_path)


def test_a_package_that_cannot_be_unpacked(tmp_path, debian):
    debian("dpkg-deb", "#!/bin/sh\necho 'dpkg-deb: error: unexpected end of file' >&2\nexit 2\n")
    assert "said 'dpkg-deb: error: unexpected end of file'" in refused(tmp_path)


def test_a_download_that_brings_too_little(tmp_path, debian):
    debian("apt-get", "#!/bin/sh\necho whole > libreoffice-help-en-us_1_all.deb\n")
    assert "apt-get downloaded no file for libreoffice-help-tr" in refused(tmp_path)
    debian("apt-get", APT)
    debian("dpkg-deb", "#!/bin/sh\n")
    assert "hold no help page in the expected place" in refused(tmp_path)


def test_a_killed_download_is_not_taken_for_a_whole_one(tmp_path, debian):
    debian("apt-get", "#!/bin/sh\necho half > libreoffice-help-en-us_1_all.deb\nkill -9 $$\n")
    assert "failed and said nothing" in refused(tmp_path)
    debian("apt-get", APT)
    assert load("tr", tmp_path / "cache")[0] == ROWS


def test_an_interrupt_while_unpacking_leaves_nothing_behind(tmp_path, debian, monkeypatch):
    run, folders = subprocess.run, []

    def interrupted(command, **options):
        folders.append(options["cwd"])
        if command[0] == "dpkg-deb":
            raise KeyboardInterrupt
        return run(command, **options)

    monkeypatch.setattr(libreoffice.subprocess, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("tr", tmp_path / "cache")
    assert len(folders) == 2
    assert not os.path.exists(folders[0])
    monkeypatch.setattr(libreoffice.subprocess, "run", run)
    assert load("tr", tmp_path / "cache")[0] == ROWS


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(ValueError, match="language='xx': the help is loaded for tr, de, es, fr"):
        load("xx")


def test_the_cache_folder_follows_the_xdg_rules(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache_folder()) == "/somewhere/attention-zoo"
    for unusable in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert cache_folder() == tmp_path / ".cache" / "attention-zoo"
    assert cache_folder("~/mine") == tmp_path / "mine"
