"""python -m tutti: the program tutti."""

from .binary import main

main()
