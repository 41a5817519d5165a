"""How soon the program works, and what it takes when it has little to do.

``python -m tests.bench.start`` measures; ``peer`` is what the agent scrapes and sends to meanwhile.
"""
