package help

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/printable"
)

// CompleteWord is the first word of a shell that asks how a command line goes on. The
// others are those typed so far, the last one perhaps in part. The answer is a
// candidate a line, a TAB and what it is, and last what else there may be.
const CompleteWord = "__complete"

// What else may follow, beside the candidates.
const (
	Nothing    = ":none"
	Files      = ":files"
	Folders    = ":dirs"
	ListGoesOn = ":list" // the candidates may be followed by more of a list
)

// candidate is a word that may stand next.
type candidate struct{ word, what string }

// Complete answers a shell.
func Complete(app *kong.Application, offers Offers, words []string, w io.Writer) {
	if len(words) == 0 {
		words = []string{""}
	}
	l := readLine(app, offers, words[:len(words)-1])
	found, more := l.next(words[len(words)-1])
	for _, c := range found {
		if c.what != "" {
			printable.Fprintf(w, "%s\t%s\n", c.word, c.what)
		} else {
			printable.Fprintln(w, c.word)
		}
	}
	printable.Fprintln(w, more)
}

// typedLine is what a command line says so far.
type typedLine struct {
	offers     Offers
	node       *kong.Node
	about      *kong.Node // what help is asked of so far
	pending    *kong.Flag // its value comes next
	positional int        // arguments of node so far
	verbatim   bool       // after --
}

func readLine(app *kong.Application, offers Offers, words []string) *typedLine {
	l := &typedLine{node: app.Node, offers: offers}
	for _, word := range words {
		l.read(word)
	}
	return l
}

func (l *typedLine) read(word string) {
	switch {
	case l.pending != nil:
		l.pending = nil
	case word == "--":
		l.verbatim = true
	case !l.verbatim && strings.HasPrefix(word, "-") && word != "-":
		if f := l.flag(word); f != nil && !strings.Contains(word, "=") && !f.IsBool() {
			l.pending = f
		}
	case l.about != nil:
		if child := Child(l.about, word); child != nil {
			l.about = child
		}
	default:
		if child := Child(l.node, word); child != nil && l.positional == 0 {
			if l.node = child; child.Name == "help" {
				l.about = child.Parent
			}
			return
		}
		l.positional++
	}
}

// flag finds the flag that a word names, as --name, --name=value or -n.
func (l *typedLine) flag(word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	for _, f := range l.flags() {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// flags are those that may stand here, the verb's own first.
func (l *typedLine) flags() (flags []*kong.Flag) {
	for node := l.node; node != nil; node = node.Parent {
		flags = append(flags, node.Flags...)
	}
	return flags
}

// next returns what may follow, beginning with cur.
func (l *typedLine) next(cur string) (found []candidate, more string) {
	switch {
	case l.pending != nil:
		return l.offers.values(l.pending.Value, cur)
	case !l.verbatim && strings.HasPrefix(cur, "-") && strings.Contains(cur, "="):
		f := l.flag(cur)
		if f == nil {
			return nil, Nothing
		}
		name, value, _ := strings.Cut(cur, "=")
		found, more = l.offers.values(f.Value, value)
		for i := range found {
			found[i].word = name + "=" + found[i].word
		}
		return found, more
	case !l.verbatim && strings.HasPrefix(cur, "-"):
		return l.flagsLike(cur), Nothing
	case len(l.node.Children) > 0 && l.positional == 0:
		return verbsLike(l.node, cur), Nothing
	case l.about != nil:
		return append(verbsLike(l.about, cur), l.configLike(cur)...), Nothing
	case len(l.node.Positional) > 0:
		at := min(l.positional, len(l.node.Positional)-1) // the last one may be repeated
		return l.offers.values(l.node.Positional[at], cur)
	}
	return nil, Nothing
}

func (l *typedLine) flagsLike(cur string) (found []candidate) {
	for _, f := range l.flags() {
		names := []string{"--" + f.Name}
		if f.Tag.Negatable != "" {
			names = append(names, "--no-"+f.Name)
		}
		for _, name := range names {
			if strings.HasPrefix(name, cur) && !f.Hidden {
				found = append(found, candidate{name, firstSentence(f.Help)})
			}
		}
	}
	return found
}

func verbsLike(node *kong.Node, cur string) (found []candidate) {
	for _, child := range node.Children {
		if strings.HasPrefix(child.Name, cur) && !child.Hidden {
			found = append(found, candidate{child.Name, firstSentence(child.Help)})
		}
	}
	return found
}

// configLike is the one page of help that is not of a verb.
func (l *typedLine) configLike(cur string) []candidate {
	if l.about.Parent != nil || !strings.HasPrefix("config", cur) {
		return nil
	}
	return []candidate{{"config", "Of fossick.toml and the environment"}}
}

// firstSentence shortens a help to what fits beside a word.
func firstSentence(help string) string {
	for _, end := range []string{". ", ": ", "; ", " ["} {
		help, _, _ = strings.Cut(help, end)
	}
	return strings.TrimSuffix(help, ".")
}

// values returns the values that a flag or an argument may have.
func (o Offers) values(v *kong.Value, cur string) (found []candidate, more string) {
	words, more := o.Of(v)
	before := "" // of a list, the elements that are there
	if i := strings.LastIndexByte(cur, ','); i >= 0 && len(words) > 0 {
		before, cur = cur[:i+1], cur[i+1:]
	}
	for _, word := range words {
		if strings.HasPrefix(word, cur) && !slices.Contains(strings.Split(before, ","), word) {
			found = append(found, candidate{word: before + word})
		}
	}
	if more == Nothing && v.IsSlice() && v.Flag != nil && v.Tag.Sep == ',' && len(found) > 0 {
		more = ListGoesOn
	}
	return found, more
}
