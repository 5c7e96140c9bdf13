"""The rules of a check: small functions from `Facts` to findings, a module for each part of a directory."""
