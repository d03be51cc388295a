import numpy as np
import pytest
from keras import ops

import zoo
from tests.samples import batch, small


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("mean", ["probabilities", "logs"])
def test_the_mean_of_recurrent_and_transformer(mean):
    members = [small("transformer-tiny"), small("seq2seq-bahdanau-tiny"), small("gpt2-tiny")]
    both, source = zoo.Ensemble(members, mean), batch()["source"]
    logits = [ops.convert_to_numpy(member(batch())).astype("float64") for member in members]
    p = np.mean([softmax(x) for x in logits], 0) if mean == "probabilities" else None
    expected = np.log(p) if p is not None else np.mean([np.log(softmax(x)) for x in logits], 0)
    np.testing.assert_allclose(ops.convert_to_numpy(both(batch())), expected, atol=1e-5)
    found = zoo.beam_search(both, source, beams=3, max_length=6, return_attention="heads")
    assert found.attention.shape[2] == 2 * 4 + 1 + 2 * 4
    layers = ["0/decoder/0/cross", "0/decoder/1/cross", "1/decoder/0/cross", "2/decoder/0/self", "2/decoder/1/self"]
    assert [*found.maps] == layers
    np.testing.assert_array_equal(found.maps["1/decoder/0/cross"], found.attention[:, :, 8:9])
    np.testing.assert_allclose(zoo.score(both, (source, found.tokens)).sum(-1), found.log_probs, atol=1e-4)


def test_a_model_with_itself_is_itself():
    model, source = small("seq2seq-luong-tiny"), batch()["source"]
    one, two = (zoo.beam_search(m, source, beams=3, max_length=6) for m in (model, zoo.Ensemble([model, model])))
    np.testing.assert_array_equal(one.tokens, two.tokens)
    np.testing.assert_allclose(one.log_probs, two.log_probs, atol=1e-4)


def test_new_weights_are_seen():
    model = small("seq2seq-tiny")
    both, source = zoo.Ensemble([model]), batch()["source"]
    before = zoo.greedy(both, source, max_length=5).log_probs
    model.set_weights([w * 2 + 0.1 for w in model.get_weights()])
    after = zoo.greedy(both, source, max_length=5)
    assert (after.log_probs != before).any()
    np.testing.assert_allclose(after.log_probs, zoo.greedy(model, source, max_length=5).log_probs, atol=1e-5)


def test_limits_are_the_narrowest():
    both = zoo.Ensemble(
        [small("gpt2-tiny", max_length=12), small("transformer-tiny", positions="learned", max_length=9)]
    )
    assert (both.source_limit, both.target_limit(7), both.vocabulary("source")) == (9, 5, 53)
    assert zoo.Ensemble([small("seq2seq-tiny")]).target_limit(7) is None
    for width in (4, 6):
        zoo.greedy(both, np.full((1, width), 5), max_length=3)
    with pytest.raises(ValueError, match="source: 10 tokens, but transformer-tiny takes at most 9"):
        zoo.greedy(both, np.full((1, 10), 5), max_length=2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zoo.Ensemble([]), "at least one model"),
        (lambda: zoo.Ensemble([small("seq2seq-tiny")], "median"), "mean='median'.*'probabilities'"),
        (
            lambda: zoo.Ensemble([small("seq2seq-tiny"), small("transformer-tiny", tied=False, target_vocab=59)]),
            r"vocabularies differ, \[53, 59\]",
        ),
    ],
)
def test_what_cannot_be_together_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
