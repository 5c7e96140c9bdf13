"""Pages that need packages beyond the `test` extra are run by tests that skip what is not installed."""

collect_ignore = ["training_batches.md"]  # tests/test_training_batches.py
