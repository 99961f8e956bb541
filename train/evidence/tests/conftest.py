"""Fixtures shared by the tests of the experiments."""

import torch

pytest_plugins = ["support.plugin", "support.commands"]

# Networks this small gain nothing from more threads, and are much slower with them if other programs are running.
torch.set_num_threads(1)
