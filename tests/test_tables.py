import zoo


def test_a_table_in_markdown():
    expected = "| a | b |\n| --- | --- |\n| 1 | x \\| y |\n| 2 |  |"
    assert zoo.markdown_table(("a", "b"), [(1, "x | y"), (2, "")]) == expected
