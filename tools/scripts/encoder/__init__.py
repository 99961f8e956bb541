"""How the shipped encoder was made: a distillation of a larger one."""
