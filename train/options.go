package train

import (
	"cmp"
	"fmt"
	"log/slog"

	"fossick/internal/nearest"
	"fossick/models"
	"fossick/models/features"
)

// Options say what to train. The zero value chooses the classifier itself.
type Options struct {
	Target
	Classifier string // one of Classifiers; "" is auto
	Ordered    bool   // cn2 learns a decision list (Clark & Niblett 1989), not rules for each class (Clark & Boswell 1991)

	Words    int              // keep this many terms, those that gain most; 0 is the classifier's default
	Mu       float64          // keep the terms that gain at least this much (paper A eq. 5), in nats
	Select   features.Measure // ranks words for Words, Mu and K; "" is each learner's own
	MinSites int              // keep only terms of so many sites, because a site's own names are no topic; 0 is 1

	Folds  int  // of the cross-validation; 0 is 5
	BySite bool // folds hold whole sites, so that what is learnt from a site's menus does not count

	Memory int64  // bytes that training may hold, about; 0 is 1 GiB (docs/training.md)
	Tmp    string // folder for rows that do not fit; "" is the system's

	Data  []string // the sets, for the model's card
	Split string   // which part of them, for the card

	Seed    int64
	Explain bool // also fill Report.Held and Report.Curve

	Log *slog.Logger // nil is silent
	// Step is told from any goroutine what is going on; it may be nil.
	Step func(what string)
}

// Target says which class a page has.
type Target struct {
	Labels     []string // only these classes; see Class
	Topic      string   // this class against the rest
	Unlabelled bool     // with Topic: the pages that are not of it are unlabelled; see PU
}

// selection says which words a learner keeps.
type selection struct {
	words int
	mu    float64
	by    features.Measure // "" is the learner's own
}

// or fills in the learner's own choice.
func (s selection) or(words int, by features.Measure) selection {
	if !s.asked() {
		s.words = words
	}
	s.by = cmp.Or(s.by, by)
	return s
}

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

// measures returns those by which the learners may rank words. Rules, trees and networks use two
// steps, linear ones gain alone. plain is for trials, which may use any.
func (o *Options) measures(plain bool) []features.Measure {
	two, one := features.ByTFDFGain, features.ByGain
	switch {
	case o.Select != "":
		return []features.Measure{o.Select}
	case plain, o.auto():
		return []features.Measure{two, one}
	case o.weighs():
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

// auto reports whether learners compete or vote.
func (o *Options) auto() bool {
	return o.Classifier == "" || o.Classifier == Auto || o.together()
}

// together reports whether several learners make the model.
func (o *Options) together() bool { return o.Classifier == models.Voting || o.stacks() }

func (o *Options) stacks() bool { return o.Classifier == models.Stack }

// weighs reports whether the classifier is a table of weights.
func (o *Options) weighs() bool {
	return o.Classifier == models.LinearSVM || o.Classifier == models.NaiveBayes
}

func (o *Options) selected() bool { return o.Words > 0 || o.Mu > 0 }

// learners returns those to choose from.
func (o *Options) learners() ([]learner, error) {
	rules := newCN2(o.Ordered)
	nb := []learner{bayes{complement: true}, bayes{}}
	switch o.Classifier {
	case "", Auto, models.Voting:
		all := append([]learner{linear{}, c45{}}, nb...)
		if o.selected() {
			// Rules win on few words at times, on all words never. Train adds networks
			// where words and pages are few enough.
			all = append(all, rules)
		}
		return all, nil
	case models.LinearSVM:
		return []learner{linear{}}, nil
	case models.NaiveBayes:
		return nb, nil
	case models.C45:
		return []learner{c45{}}, nil
	case models.CN2:
		return []learner{rules}, nil
	case models.Trees:
		return []learner{forest{}}, nil
	case models.Stack:
		return []learner{linear{}, forest{}, rules}, nil
	case models.NN:
		return []learner{fiveNets}, nil
	}
	return nil, fmt.Errorf("no classifier %q; choose one of %s", o.Classifier, nearest.Some(o.Classifier, Classifiers()))
}

// extractor returns the terms of pages; plain is for trials. Stop words stay, because "I" and "my"
// tell a student's page from a course's.
func (o *Options) extractor(plain bool) features.ExtractorOptions {
	return features.ExtractorOptions{
		Analyzer: features.AnalyzerOptions{KeepStop: true, Numbers: features.NumbersShape},
		Fields:   true,
		Lead:     o.lead(plain),
	}
}

// leadWords is the length of the lead (features.ExtractorOptions), between the best for home
// pages and the best for articles.
const leadWords = 32

// lead returns the length of the lead. There is none where words are selected, because half of a
// few hundred terms would be words of the text again.
func (o *Options) lead(plain bool) int {
	if !o.auto() && !o.weighs() || plain || o.selected() {
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
	if o.Folds < 2 || o.Words < 0 || o.MinSites < 0 || o.Mu < 0 || o.Memory < 0 {
		return fmt.Errorf("training with %d folds, %d words, μ %v; want at least 2 folds, and no negative numbers", o.Folds, o.Words, o.Mu)
	}
	o.Select, err = features.ParseMeasure(string(o.Select))
	return err
}

// The shares of Options.Memory, and what things cost in it.
const (
	defaultMemory = 1 << 30

	// A term: its string twice, a place in two maps, its frequencies, its written forms.
	termBytes = 256
	// A term of a page, its number and its count: in the rows, and in each fold's copy.
	cellBytes = 8
)

func (o *Options) memory() int64 { return cmp.Or(o.Memory, defaultMemory) }

// lexiconTerms is how many terms the lexicon may have, from a quarter of the memory.
func (o *Options) lexiconTerms() int { return int(max(1000, o.memory()/4/termBytes)) }

// rowBytes is how many bytes of rows stay in memory while the set is read.
func (o *Options) rowBytes() int { return int(o.memory() / 8) }

// cells is how many terms of pages there is room for when so many folds are trained at once.
// They have three quarters of the memory, because the lexicon is gone by then.
func (o *Options) cells(folds int) int64 { return max(1, o.memory()*3/4/int64(cellBytes*(1+folds))) }

// countedTerms is how many terms can be counted by class at once.
func (o *Options) countedTerms(classes int) int {
	return int(max(1000, o.memory()/4/8/int64(classes)))
}
