"""Fixtures shared by the tests of the experiments."""

import torch

# Networks this small gain nothing from more threads, and lose much where other programs run.
torch.set_num_threads(1)
