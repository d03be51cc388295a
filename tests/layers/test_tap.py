import pytest

from zoo.layers.tap import closed, edited, emit, listening, tap, vectors


def test_emitting_without_a_tap_does_nothing():
    assert not listening()
    emit("encoder/0/self", 1)


def test_an_open_tap_collects_in_order():
    with tap() as maps:
        assert listening()
        emit("b", 1)
        emit("a", 2)
    assert list(maps.items()) == [("b", 1), ("a", 2)]
    assert not listening()


def test_an_inner_tap_does_not_leak_into_the_outer():
    with tap() as outer:
        with tap() as inner:
            emit("x", 1)
        emit("y", 2)
    assert (inner, outer) == ({"x": 1}, {"y": 2})


def test_a_closed_tap_hears_nothing_and_opens_again():
    with tap() as maps:
        with closed():
            assert not listening()
            emit("x", 1)
        emit("y", 2)
    assert maps == {"y": 2}


def test_the_tap_closes_on_an_error():
    with pytest.raises(KeyError), tap():
        raise KeyError
    assert not listening()


def test_a_role_is_emitted_once():
    with tap(), pytest.raises(ValueError, match="'x' was emitted twice"):
        emit("x", 1)
        emit("x", 2)


def test_vectors_are_made_only_for_who_asks():
    made = []

    def vector(name):
        return lambda: made.append(name) or name

    with tap():
        emit("x", 1, vector("q"), vector("k"))
    assert made == []
    with vectors() as collected:
        assert listening()
        emit("x", 1, vector("q"), vector("k"))
        emit("y", 2)
    assert collected == {"x": ("q", "k")}
    assert not listening()


def test_edited_weights_are_gone_on_with_and_seen():
    with edited(lambda role, weights: weights * 2 if role == "x" else weights), tap() as maps:
        assert listening()
        assert emit("x", 3, lambda: 0, lambda: 0) == 6
        assert emit("y", 3, lambda: 0, lambda: 0) == 3
        assert emit("z", 3) == 3  # made after the fact, where nothing goes on from it
    assert maps == {"x": 6, "y": 3, "z": 3}
    assert emit("x", 3) == 3
