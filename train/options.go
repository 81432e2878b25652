package train

import (
	"fmt"
	"log/slog"
	"strings"

	"fossick/features"
	"fossick/models"
)

// Options say what to train. The zero value chooses the classifier itself.
type Options struct {
	Classifier string   // one of Classifiers; "" is auto
	Words      int      // keep this many terms, those that gain most; 0 is the classifier's default
	Mu         float64  // keep terms that gain this much at least (paper A eq. 5), in nats
	Explain    bool     // also find out what Report.Held and Report.Curve say
	Labels     []string // only these classes; see Class
	Topic      string   // this class against the rest
	Unlabelled bool     // with Topic: the pages that are not of it are unlabelled; see PU
	Folds      int      // of the cross-validation; 0 is 5
	MinSites   int      // keep only terms of so many sites, for the names of a few are no topic's; 0 is 1
	BySite     bool     // folds hold whole sites: what is learnt of a site's menus must not count
	Keywords   int      // words of K a class; 0 is 20
	Seed       int64
	CN2        CN2  // how rules are learnt
	NN         NN   // how networks are trained
	Loss       Loss // what linear minimises; "" is Hinge
	Pairs      bool // pairs of words are terms too
	Chars      int  // runs of so many characters in a word are terms too; 0 is none

	Select features.Measure // how words are ranked for Words and Mu; "" is information gain
	Memory int64            // bytes that a run may hold, about; 0 is 1 GiB. See docs/training.md
	Tmp    string           // folder for rows that do not fit; "" is the system's

	Data  []string // the sets, for the card
	Split string   // which part of them, for the card

	Log *slog.Logger // nil is silent
	// Step is told what goes on, in a few words, from any goroutine; nil when nobody asks.
	Step func(what string)

	plain bool // no model is made: K needs no words
}

// Auto chooses the classifier by cross-validation.
const Auto = "auto"

// Classifiers returns what Options.Classifier may be.
func Classifiers() []string {
	return []string{Auto, models.C45, models.CN2, models.NN, models.LinearSVM, models.NaiveBayes, models.Voting}
}

// auto reports whether learners are chosen, or vote.
func (o *Options) auto() bool { return o.Classifier == "" || o.Classifier == Auto || o.mustVote() }

func (o *Options) mustVote() bool { return o.Classifier == models.Voting }

func (o *Options) learners() ([]learner, error) {
	nb := []learner{bayes{complement: true}, bayes{}}
	switch o.Classifier {
	case "", Auto, models.Voting:
		all := append([]learner{linear{}, c45{}}, nb...)
		if o.Words > 0 || o.Mu > 0 {
			// Rules win on few words at times; on all words linear does, so their time
			// is saved. Train adds networks, when words and pages are few enough.
			all = append(all, cn2{})
		}
		return all, nil
	case models.LinearSVM:
		return []learner{linear{}}, nil
	case models.NaiveBayes:
		return nb, nil
	case models.C45:
		return []learner{c45{}}, nil
	case models.CN2:
		return []learner{cn2{}}, nil
	case models.NN:
		return []learner{nn{}}, nil
	}
	return nil, fmt.Errorf("no classifier %q; there are %s", o.Classifier, strings.Join(Classifiers(), ", "))
}

// extractor returns what terms pages have. Stop words stay, for "I" and "my"
// tell a student's page from a course's. Pairs of words gain less than half a
// point of accuracy and make models five times as large: see docs/classifiers.md.
func (o *Options) extractor() features.ExtractorOptions {
	return features.ExtractorOptions{
		Analyzer: features.AnalyzerOptions{KeepStop: true, Numbers: features.NumbersShape},
		Fields:   true,
		Lead:     o.lead(),
		Bigrams:  o.Pairs,
		Chars:    o.Chars,
	}
}

// leadWords is the length of the lead, see features.ExtractorOptions: of 25, 50 and
// 100 words, folds of whole universities of WebKB like 25 best, those of
// Wikispeedia 50.
const leadWords = 32

// lead returns the length of the lead: none where words are selected, for its terms
// are words of the text again, and of a few hundred they would be half.
func (o *Options) lead() int {
	all := o.auto() || o.Classifier == models.LinearSVM || o.Classifier == models.NaiveBayes
	if !all || o.plain || o.Words > 0 || o.Mu > 0 {
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
		return fmt.Errorf("training with %d folds, %d words, μ %v; want 2 folds at least, and no negative numbers", o.Folds, o.Words, o.Mu)
	}
	if o.Select, err = features.ParseMeasure(string(o.Select)); err != nil {
		return err
	}
	return o.CN2.check()
}
