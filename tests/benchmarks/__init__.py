"""Measurements for maintainers: `pytest -m benchmark tests/benchmarks`. The default run leaves them
out.
"""
