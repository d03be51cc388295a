"""SentencePiece tokenizers with the zoo's special ids."""

import io

import sentencepiece

from zoo.ids import BOS, EOS, PAD, UNK
from zoo.text.casing import lower

KINDS = ("bpe", "unigram")
_BYTES = 256  # pieces that spell any character the training text did not have
_LONGEST_LINE = 1 << 20  # bytes; SentencePiece silently leaves longer training lines out at its default of 4,192


class Tokenizer:
    """Cuts text into subword ids and puts it together again, exactly.

    Text is taken as it is: no Unicode normalisation, all spaces kept, and characters that were not in the training
    text spelled in UTF-8 bytes. So decode(encode(text)) == text for every text without U+2581 (▁), SentencePiece's own
    sign for a space. Ids are PAD=0, BOS=1, EOS=2, UNK=3 in every vocabulary; encoding adds none of them, and a user's
    text that happens to read "</s>" is never taken for one.

    Args:
        proto: a serialised SentencePiece model, bytes.
        lowercase: language code to lower-case by before encoding (see `zoo.text.casing.lower`), or None.
        reverse: whether ids run from the text's last piece to its first (see `reversed`).
    Raises:
        ValueError: bytes that are no SentencePiece model, or one with other special ids.

    Example::

        tokenizer = Tokenizer.train(sentences, vocabulary=8000)
        tokenizer.decode(tokenizer.encode(["Işık İstanbul'da."]))
    """

    def __init__(self, proto, lowercase=None, reverse=False):
        if lowercase is not None and not (isinstance(lowercase, str) and lowercase.isalpha() and lowercase.islower()):
            raise ValueError(f"lowercase={lowercase!r}: must be a language code such as 'tr', or None")
        self.proto = proto
        self.lowercase = lowercase
        self.reverse = reverse
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
        except RuntimeError as error:
            raise ValueError("these bytes are not a SentencePiece model") from error
        ids = (self._processor.pad_id(), self._processor.bos_id(), self._processor.eos_id(), self._processor.unk_id())
        if ids != (PAD, BOS, EOS, UNK):
            raise ValueError(f"the SentencePiece model has pad, bos, eos, unk = {ids}: the zoo needs 0, 1, 2, 3")

    @classmethod
    def train(cls, texts, vocabulary, kind="bpe", lowercase=None):
        """Trains a tokenizer on texts.

        Args:
            texts: iterable of str, one sentence each.
            vocabulary: number of pieces wanted, the special ids and 256 byte pieces included. A text too small for it
                gives fewer.
            kind: "bpe" (Sennrich et al. 2016) or "unigram" (Kudo 2018).
            lowercase: see the class.
        Raises:
            ValueError: a kind of another name, no text, or a vocabulary too small for the text's characters.
        """
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r}: must be one of {', '.join(map(repr, KINDS))}")
        _check_texts(texts)
        texts = [text if lowercase is None else lower(text, lowercase) for text in texts]
        characters = set().union(*texts) - {" "}
        least = 4 + _BYTES + len(characters) + 1  # the special ids, the bytes, the characters and the space
        if not characters:
            raise ValueError("there is no text to train a tokenizer on")
        if vocabulary < least:
            raise ValueError(
                f"vocabulary={vocabulary} is too small for {len(characters)} different characters: "
                f"4 special ids, 256 bytes and the characters need at least {least}"
            )
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type=kind,
            vocab_size=vocabulary,
            hard_vocab_limit=False,
            character_coverage=1.0,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            max_sentence_length=_LONGEST_LINE,
            pad_id=PAD,
            bos_id=BOS,
            eos_id=EOS,
            unk_id=UNK,
            minloglevel=2,
        )
        return cls(model.getvalue(), lowercase)

    def reversed(self):
        """The same pieces in the opposite order: decode(encode(text)) is still the text.

        For the source side: its first words come to stand near the target's (Sutskever et al. 2014, section 3.3; Luong
        et al. 2015, section 4.1).
        """
        return Tokenizer(self.proto, self.lowercase, not self.reverse)

    def forwards(self):
        """The same pieces in the text's order: the tokenizer itself, where it is not a reversed one."""
        return self.reversed() if self.reverse else self

    @property
    def vocabulary(self):
        """Number of pieces."""
        return self._processor.vocab_size()

    def prepare(self, text):
        """The text as it is encoded: lower-cased where the tokenizer does that."""
        return text if self.lowercase is None else lower(text, self.lowercase)

    def encode(self, texts):
        """A list of str -> a list of lists of ids, without BOS and EOS."""
        _check_texts(texts)
        rows = self._processor.encode([self.prepare(text) for text in texts], out_type=int)
        return [row[::-1] for row in rows] if self.reverse else rows

    def decode(self, rows):
        """Rows of ids -> a list of str; each row ends before its first EOS, and PAD and BOS say nothing."""
        return self._processor.decode([self._content(row) for row in rows])

    def pieces(self, ids):
        """The pieces that ids stand for, to be read by people: ▁ marks the start of a word."""
        return [self._processor.id_to_piece(int(i)) for i in ids]

    def in_graph(self):
        """The same encoding for `tf.data`, by `keras_hub`'s tokenizer: prepared strings (N,) -> ragged ids (N, None).

        A new one for each dataset: its TensorFlow resource belongs to the first graph that uses it.
        """
        import keras_hub

        tokenizer = keras_hub.tokenizers.SentencePieceTokenizer(self.proto)
        return (lambda texts: tokenizer(texts)[:, ::-1]) if self.reverse else tokenizer

    def _content(self, row):
        ids = [int(i) for i in row]
        ids = ids[: ids.index(EOS)] if EOS in ids else ids
        ids = [i for i in ids if i not in (PAD, BOS)]
        return ids[::-1] if self.reverse else ids


def _check_texts(texts):
    if isinstance(texts, str):
        raise TypeError("texts is a str, whose letters would be taken one by one: give a list of sentences")
