"""The second stage: where the network that always listens is inclined to say yes, larger ones look at the last two seconds.

``verifier.CandidateScorer`` turns the logits of the first stage into fused scores; ``embedding``, ``phoneme_verifier`` and
``quick_phonemes`` are the networks that all words share, ``verifier_head`` what a word's file adds to them.
"""
