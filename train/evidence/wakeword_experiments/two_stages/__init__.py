"""How well the words' two stages do on people and speech that no part was trained on."""
