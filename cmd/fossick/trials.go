package main

import (
	"slices"
	"strings"

	"fossick/internal/process"
	"fossick/models"
	"fossick/train"
	"fossick/train/plan"
	"fossick/train/trials"
)

// tries says whether the flags ask to try settings.
func (f *trialFlags) tries() bool { return !f.MuSweep.None() || f.Protocol != "" }

// classifiers returns those that the flag names.
func (c trainCmd) classifiers() ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(c.Classifier, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(train.Classifiers(), name) {
			return nil, usagef("--classifier %s: want one of %s", c.Classifier, strings.Join(train.Classifiers(), ", "))
		}
		names = append(names, name)
	}
	switch {
	case !c.tries() && len(names) > 1:
		return nil, usagef("--classifier %s: one makes a model; several are for --mu-sweep and --protocol", c.Classifier)
	case c.tries() && slices.Equal(names, []string{train.Auto}):
		return without(train.Classifiers(), train.Auto, "nb", models.Voting), nil // paper A's three, and linear
	case c.tries() && (slices.Contains(names, train.Auto) || slices.Contains(names, models.Voting)):
		return nil, usagef("--classifier %s: auto and vote choose anew for each number of words; name those to try", c.Classifier)
	}
	return names, nil
}

func without(all []string, out ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(out, s) })
}

// trials runs the trials that the flags ask for, nil when none, and prints them
// unless a model is to be made too.
func (c trainCmd) trials(a *app, p *plan.Plan) (*trials.Result, error) {
	switch {
	case !c.tries() && c.Out == "":
		return nil, usagef("-o MODEL says where the model goes; only --mu-sweep and --protocol do without")
	case !c.tries() && c.HTML != "":
		return nil, usagef("--html %s: draws a sweep; give --mu-sweep, as 0.01:0.18:0.01", c.HTML)
	case !c.tries() && c.Level.Both:
		return nil, usagef("--level both: a model has classes of one level; give theme or category")
	case !c.tries():
		return nil, nil
	case c.HTML != "" && c.MuSweep.None():
		return nil, usagef("--html %s: draws a sweep; give --mu-sweep too", c.HTML)
	case !c.MuSweep.None() && c.Protocol == "" && c.Out == "" && (c.Words > 0 || c.Mu > 0):
		return nil, usagef("--mu-sweep chooses words by μ; leave out --words and --mu, or make a model of them with -o")
	}
	defer process.LimitHeap(int64(c.Memory) + programMemory)()
	names, err := c.classifiers()
	if err != nil {
		return nil, err
	}
	t := trials.Trials{Plan: *p, MuSweep: c.MuSweep, Protocol: c.Protocol, Classifiers: names, HTML: c.HTML, Task: a.task}
	r, err := t.Run(a.ctx)
	if err != nil || c.Out != "" {
		return r, err
	}
	return r, a.emit(r, r.Print)
}
