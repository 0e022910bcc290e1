"""Models larger than the memory of their devices: tutti.dispatch. dispatching.py is where to begin reading;
units.py finds what is placed, measuring.py measures it, planning.py plans it, runner.py runs it."""
