"""Training of wake-word models. The only part of the project that imports torch.

The public names stand in ``__init__.pyi`` and are imported when they are first used: ``wakeword train --help``, a module of
this package, must work, and quickly, where torch is not installed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
