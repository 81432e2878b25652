package train

import (
	"cmp"
	"fmt"
	"log/slog"

	"fossick/internal/printable"
	"fossick/models"
	"fossick/models/features"
)

// Options say what to train. The zero value chooses the classifier itself.
type Options struct {
	Target
	Method
	Terms
	Validation
	Space
	Origin
	Seed    int64
	Explain bool // also find out what Report.Held and Report.Curve say

	Log *slog.Logger // nil is silent
	// Step is told what goes on, in a few words, from any goroutine; nil when nobody asks.
	Step func(what string)
}

// Target says of which class a page is.
type Target struct {
	Labels     []string // only these classes; see Class
	Topic      string   // this class against the rest
	Unlabelled bool     // with Topic: the pages that are not of it are unlabelled; see PU
}

// Method says how pages are told apart.
type Method struct {
	Classifier string // one of Classifiers; "" is auto
	CN2        CN2    // how rules are learnt
	NN         NN     // how networks are trained
	Loss       Loss   // what linear minimises; "" is Hinge
}

// Terms say by what pages are told apart.
type Terms struct {
	Words    int              // keep this many terms, those that gain most; 0 is the classifier's default
	Mu       float64          // keep terms that gain this much at least (paper A eq. 5), in nats
	Select   features.Measure // how words are ranked for Words and Mu, and chosen for K; "" is each learner's own way
	MinSites int              // keep only terms of so many sites, for the names of a few are no topic's; 0 is 1
	Pairs    bool             // pairs of words are terms too
	Chars    int              // runs of so many characters in a word are terms too; 0 is none
}

// Validation says how pages are held out.
type Validation struct {
	Folds  int  // of the cross-validation; 0 is 5
	BySite bool // folds hold whole sites: what is learnt of a site's menus must not count
}

// Space is what a run may take; see docs/classifiers.md.
type Space struct {
	Memory int64  // bytes that it may hold, about; 0 is 1 GiB
	Tmp    string // folder for rows that do not fit; "" is the system's
}

// Origin is where the pages come from, for the card.
type Origin struct {
	Data  []string // the sets
	Split string   // which part of them
}

// selection says which words a learner keeps, as Terms have it.
type selection struct {
	words int
	mu    float64
	by    features.Measure // "" is the learner's own way
}

// or fills in what a learner does by itself.
func (s selection) or(words int, by features.Measure) selection {
	if !s.asked() {
		s.words = words
	}
	s.by = cmp.Or(s.by, by)
	return s
}

// asked says whether words are selected.
func (s selection) asked() bool { return s.words > 0 || s.mu > 0 }

// fitting is what a learner is told beside its pages.
type fitting struct {
	selection
	seed  int64
	trial bool // the classifier is judged and thrown away
}

func (o *Options) fitting() fitting {
	return fitting{selection: selection{o.Words, o.Mu, o.Select}, seed: o.Seed}
}

// measures returns those by which learners may rank words: rules, trees and networks, which
// always select, by two steps, linear ones by gain alone. plain is for trials by any.
func (o *Options) measures(plain bool) []features.Measure {
	two, one := features.ByTFDFGain, features.ByGain
	switch {
	case o.Select != "":
		return []features.Measure{o.Select}
	case plain:
		return features.Measures()
	case o.auto():
		return []features.Measure{two, one}
	case o.Classifier == models.LinearSVM || o.Classifier == models.NaiveBayes:
		return []features.Measure{one}
	}
	return []features.Measure{two}
}

// Auto chooses the classifier by cross-validation.
const Auto = "auto"

// Classifiers returns what Options.Classifier may be.
func Classifiers() []string {
	return []string{Auto, models.C45, models.CN2, models.NN, models.LinearSVM, models.NaiveBayes, models.Trees, models.Voting, models.Stack}
}

// auto reports whether learners are chosen, or vote.
func (m *Method) auto() bool { return m.Classifier == "" || m.Classifier == Auto || m.together() }

// together reports whether several learners make the model.
func (m *Method) together() bool { return m.Classifier == models.Voting || m.stacks() }

func (m *Method) stacks() bool { return m.Classifier == models.Stack }

// learners returns those to choose from; selected says whether words are.
func (m *Method) learners(selected bool) ([]learner, error) {
	nb := []learner{bayes{complement: true}, bayes{}}
	switch m.Classifier {
	case "", Auto, models.Voting:
		all := append([]learner{linear{}, c45{}}, nb...)
		if selected {
			// Rules win on few words at times; on all words linear does, so their time
			// is saved. Train adds networks, when words and pages are few enough.
			all = append(all, cn2{m.CN2})
		}
		return all, nil
	case models.LinearSVM:
		return []learner{linear{}}, nil
	case models.NaiveBayes:
		return nb, nil
	case models.C45:
		return []learner{c45{}}, nil
	case models.CN2:
		return []learner{cn2{m.CN2}}, nil
	case models.Trees:
		return []learner{forest{}}, nil
	case models.Stack:
		return []learner{linear{}, forest{}, cn2{m.CN2}}, nil
	case models.NN:
		return []learner{nn{m.NN}}, nil
	}
	return nil, fmt.Errorf("no classifier %q; choose one of %s", m.Classifier, printable.SomeNames(m.Classifier, Classifiers()))
}

// selected says whether words are selected.
func (t *Terms) selected() bool { return t.Words > 0 || t.Mu > 0 }

// extractor returns what terms pages have; plain is for trials. Stop words stay, for "I" and "my"
// tell a student's page from a course's. Pairs of words gain less than half a
// point of accuracy and make models five times as large: see docs/classifiers.md.
func (o *Options) extractor(plain bool) features.ExtractorOptions {
	return features.ExtractorOptions{
		Analyzer: features.AnalyzerOptions{KeepStop: true, Numbers: features.NumbersShape},
		Fields:   true,
		Lead:     o.lead(plain),
		Bigrams:  o.Pairs,
		Chars:    o.Chars,
	}
}

// leadWords is the length of the lead, see features.ExtractorOptions. By folds
// WebKB's home pages do best with 25 words, Wikispeedia's articles with 50.
const leadWords = 32

// lead returns the length of the lead. There is none where words are selected: of a few
// hundred, half would be words of the text again.
func (o *Options) lead(plain bool) int {
	all := o.auto() || o.Classifier == models.LinearSVM || o.Classifier == models.NaiveBayes
	if !all || plain || o.selected() {
		return 0
	}
	return leadWords
}

func (o *Options) step(format string, args ...any) {
	if o.Step != nil {
		o.Step(fmt.Sprintf(format, args...))
	}
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

// complete fills in defaults and refuses what makes no sense.
func (o *Options) complete() (err error) {
	if o.Folds == 0 {
		o.Folds = 5
	}
	if o.Folds < 2 || o.Words < 0 || o.MinSites < 0 || o.Mu < 0 || o.Memory < 0 || o.Chars < 0 {
		return fmt.Errorf("training with %d folds, %d words, μ %v; want at least 2 folds, and no negative numbers", o.Folds, o.Words, o.Mu)
	}
	if o.Select, err = features.ParseMeasure(string(o.Select)); err != nil {
		return err
	}
	return o.CN2.check()
}
