"""The experiments behind the method: synthetic data, digits and real wake words, with the baselines of the paper.

Source of the designs: Goyal et al., "DROCC: Deep Robust One-Class Classification", ICML 2020.
"""
