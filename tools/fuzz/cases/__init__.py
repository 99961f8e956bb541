"""Fuzzers: one module a target, and a runner that no case can hang or crash."""
