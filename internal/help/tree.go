package help

import (
	"slices"

	"github.com/alecthomas/kong"
)

// Child is the verb of a name below a node, nil when there is none.
func Child(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// Children are the names of the verbs below a node.
func Children(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		names = append(names, child.Name)
	}
	return names
}

// Path is the name of a verb, word by word.
func Path(node *kong.Node) (path []string) {
	for ; node != nil && node.Type != kong.ApplicationNode; node = node.Parent {
		path = append([]string{node.Name}, path...)
	}
	return path
}

// Verbs returns the verbs below a node that do something themselves.
func Verbs(node *kong.Node) (verbs []*kong.Node) {
	for _, child := range node.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			verbs = append(verbs, child)
		default:
			verbs = append(verbs, Verbs(child)...)
		}
	}
	return verbs
}
