"""The rules of a check, a module for what they are about; `check` imports them all."""
