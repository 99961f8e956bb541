"""How the tests are dealt out to workers (``support.plugin``)."""

import os

import pytest


def test_one_worker_runs_the_tests_of_a_file(request: pytest.FixtureRequest) -> None:
    """A release of pytest or of pytest-xdist that ignores groups makes each worker build all fixtures anew."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one process runs all tests")
    assert request.node.nodeid.endswith("@tests/test_workers.py")
