//go:build ignore

// The tables that patience.go makes of its rows.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// sum adds up a row's crawls.
type sum struct{ crawls, found, seconds float64 }

// sums adds up the lines of files by a key of each; it says in which order keys come up.
func sums(paths []string, of func(cells []string) string) (all map[string]*sum, order []string, err error) {
	all = map[string]*sum{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			cells := strings.Split(lines.Text(), "\t")
			if len(cells) != 9 {
				return nil, nil, fmt.Errorf("%s: %q has %d columns, want 9", path, lines.Text(), len(cells))
			}
			key := of(cells)
			if all[key] == nil {
				all[key] = &sum{}
				order = append(order, key)
			}
			found, err := strconv.ParseFloat(cells[7], 64)
			if err != nil {
				return nil, nil, err
			}
			seconds, err := strconv.ParseFloat(cells[8], 64)
			if err != nil {
				return nil, nil, err
			}
			all[key].crawls++
			all[key].found += found
			all[key].seconds += seconds
		}
	}
	return all, order, nil
}

// best prints for each topic, manners, budget and draw of training pages how much more pages
// on topic learned has than the best of the other policies.
func best(paths []string) error {
	draws := number("SETS", 3)
	all, order, err := sums(paths, func(cells []string) string {
		set, _ := strconv.Atoi(cells[5])
		return strings.Join([]string{cells[0], cells[1], cells[3], cells[4], strconv.Itoa(set%draws + 1), cells[2]}, "\t")
	})
	if err != nil {
		return err
	}
	fmt.Println("corpus\ttopic\tmanners\tpages\tdraw\tbest known\ton topic\tlearned\tratio")
	for _, key := range order {
		row, ours := strings.CutSuffix(key, "\tlearned")
		if !ours {
			continue
		}
		name, known := "", 0.
		for other, s := range all {
			if policy, of := strings.CutPrefix(other, row+"\t"); of && policy != "learned" && (s.found > known || s.found == known && policy < name) {
				name, known = policy, s.found
			}
		}
		l := all[key]
		fmt.Printf("%s\t%s\t%.1f\t%.1f\t%.3f\n", row, name, known/l.crawls, l.perCrawl(), l.found/known)
	}
	return nil
}

// table prints a row for each corpus, topic, policy, manners and budget, in the order in
// which they come up.
func table(paths []string) error {
	all, order, err := sums(paths, func(cells []string) string { return strings.Join(cells[:5], "\t") })
	if err != nil {
		return err
	}
	fmt.Println("corpus\ttopic\tpolicy\tmanners\tpages\tcrawls\ton topic\tto one worker\tto greedy\tseconds\ttimes greedy")
	for _, key := range order {
		cells, s := strings.Split(key, "\t"), all[key]
		with := func(manners string) *sum {
			return all[strings.Join([]string{cells[0], cells[1], cells[2], manners, cells[4]}, "\t")]
		}
		alone, greedy := with("one worker, no rests"), with(strings.Replace(cells[3], "waits", "greedy", 1))
		fmt.Printf("%s\t%.0f\t%.1f\t%s\t%s\t%.1f\t%s\n", key, s.crawls, s.found/s.crawls, share(s, alone, (*sum).perCrawl), share(s, greedy, (*sum).perCrawl),
			s.seconds/s.crawls, share(s, greedy, (*sum).time))
	}
	return nil
}

func (s *sum) perCrawl() float64 { return s.found / s.crawls }
func (s *sum) time() float64     { return s.seconds / s.crawls }

// share is how a row compares with another; nothing where there is none.
func share(s, other *sum, of func(*sum) float64) string {
	if other == nil || of(other) == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", of(s)/of(other))
}
