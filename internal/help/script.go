package help

import "embed"

//go:embed completion/fossick.bash completion/fossick.zsh completion/fossick.fish
var scripts embed.FS

// Script is what makes a shell complete: bash, zsh or fish.
func Script(shell string) ([]byte, error) { return scripts.ReadFile("completion/fossick." + shell) }
