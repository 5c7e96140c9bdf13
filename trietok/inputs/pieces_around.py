"""The former address of `trietok.inputs.pieces`."""

from trietok.inputs.pieces import Piece as Piece
