"""How the scores of both stages become one, and the gate before the second stage."""
