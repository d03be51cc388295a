"""The ids that mean the same in every vocabulary, model and search of the zoo."""

PAD, BOS, EOS, UNK = 0, 1, 2, 3
