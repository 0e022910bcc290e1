"""The version of this package; that of the program is in CMakeLists.txt, and a test holds them equal."""

__version__ = "0.2.0"
