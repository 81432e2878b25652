//go:build ignore

// Planted crawls a stored web with planted databases of a million URLs each (web.Planted), virtually or
// through a proxy: docs/data/planted.tsv.
//
//	go run scripts/planted.go lab CORPUS TOPIC POLICY,... REQUESTS,... SEED,...     a line a crawl
//	go run scripts/planted.go serve ADDR CORPUS TOPIC SEED DIR                      a proxy
//
// serve writes the start pages, a model of 600 random pages and a log into DIR. A line of the log is a
// request: on topic and new or not, the kind of database, the URL.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fossick/crawler"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/page"
	"fossick/models"
	"fossick/train"
)

func main() {
	log.SetFlags(0)
	var err error
	switch {
	case len(os.Args) == 7 && os.Args[1] == "lab":
		err = lab(os.Args[2], os.Args[3], strings.Split(os.Args[4], ","), numbers(os.Args[5]), numbers(os.Args[6]))
	case len(os.Args) == 7 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3], os.Args[4], numbers(os.Args[5])[0], os.Args[6])
	default:
		log.Fatal("planted lab CORPUS TOPIC POLICY,... REQUESTS,... SEED,... or planted serve ADDR CORPUS TOPIC SEED DIR")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func numbers(text string) (all []int) {
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			log.Fatal(err)
		}
		all = append(all, n)
	}
	return all
}

func read(corpus, topic string) (pages []web.PlantedPage, err error) {
	set, err := datasets.Open(corpus, datasets.Options{})
	if err != nil {
		return nil, err
	}
	truth := map[string]bool{}
	if t, err := datasets.ReadTruth(filepath.Join(corpus, "labels.tsv.zst")); err == nil {
		for _, u := range t.Targets(topic) {
			truth[u] = true
		}
	}
	for e, err := range set.Examples() {
		if err != nil {
			return nil, err
		}
		key, err := datasets.Key(e.URL)
		if err != nil || e.HTML == "" {
			continue
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: key, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			continue
		}
		on := slices.Contains(append(e.Labels, e.Label), topic) || truth[key]
		pages = append(pages, web.PlantedPage{URL: key, HTML: e.HTML, Title: p.Title, Text: p.Text, OnTopic: on})
	}
	return pages, nil
}

// model trains on 600 random pages.
func model(ctx context.Context, pages []web.PlantedPage, topic string, seed int) (*models.Model, error) {
	rng := rand.New(rand.NewPCG(uint64(seed), 2))
	order := rng.Perm(len(pages))
	m, _, err := train.Train(ctx, func(yield func(*datasets.Example, error) bool) {
		for _, n := range order[:min(600, len(order))] {
			p := pages[n]
			e := &datasets.Example{URL: p.URL, Label: "other", HTML: p.HTML}
			if p.OnTopic {
				e.Label = topic
			}
			if !yield(e, nil) {
				return
			}
		}
	}, train.Options{Target: train.Target{Topic: topic}, Seed: int64(seed)})
	return m, err
}

// lab crawls virtually, with one worker and no rests.
func lab(corpus, topic string, policies []string, budgets, seeds []int) error {
	pages, err := read(corpus, topic)
	if err != nil {
		return err
	}
	for _, seed := range seeds {
		web := web.NewPlanted(pages, uint64(seed))
		m, err := model(context.Background(), pages, topic, seed)
		if err != nil {
			return err
		}
		labeller, err := policy.NewLabeller(&models.Topic{Name: topic, Model: m})
		if err != nil {
			return err
		}
		for _, name := range policies {
			if err := crawl(web, labeller, name, topic, budgets, seed); err != nil {
				return err
			}
		}
	}
	return nil
}

func crawl(web *web.Planted, labeller *policy.Labeller, name, topic string, budgets []int, seed int) error {
	name, follow := strings.CutSuffix(name, "+traps")
	pol, _, err := policy.Parse(name)
	if err != nil {
		return err
	}
	scorer, err := pol.Scorer(policy.Input{Labeller: labeller, Seed: uint64(seed)})
	if err != nil {
		return err
	}
	order, err := pol.Ordering(scorer)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	most := slices.Max(budgets)
	asked, found, kinds, hits := 0, 0, map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	tell := func() {
		var by []string
		for _, k := range slices.Sorted(maps.Keys(kinds)) {
			by = append(by, fmt.Sprintf("%s:%d", k, kinds[k]))
		}
		fmt.Printf("%s\t%s\t%d\t%d\t%d\t%d\t%s\tarchive on topic:%d\n", topic, name, seed, asked, found, web.OnTopic(), strings.Join(by, " "), hits["archive"])
	}
	_, err = crawler.Virtual(ctx, crawler.Options{Scorer: scorer, Ordering: order, Seeds: web.Starts(), FollowTraps: follow}, func(url string) crawler.Answer {
		if strings.HasSuffix(url, "/robots.txt") {
			return crawler.Answer{}
		}
		asked++
		a, ok := web.Answer(url)
		switch {
		case !ok:
			kinds["missing"]++
		case a.Kind == "":
			kinds["stored"]++
		default:
			kinds[a.Kind]++
		}
		if a.OnTopic && !seen[a.Name] {
			seen[a.Name] = true
			hits[a.Kind]++
			found++
		}
		if os.Getenv("TRACE") != "" && asked > most-200 {
			fmt.Fprintln(os.Stderr, asked, a.OnTopic, a.Kind, url)
		}
		if slices.Contains(budgets, asked) {
			tell()
		}
		if asked == most {
			cancel()
		}
		if !ok {
			return crawler.Answer{}
		}
		p, err := page.Parse([]byte(a.HTML), page.ParseOptions{URL: url, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			return crawler.Answer{}
		}
		return crawler.Answer{Page: p}
	})
	if ctx.Err() == nil {
		tell()
	} else {
		err = nil
	}
	return err
}

func serve(addr, corpus, topic string, seed int, dir string) error {
	pages, err := read(corpus, topic)
	if err != nil {
		return err
	}
	web := web.NewPlanted(pages, uint64(seed))
	m, err := model(context.Background(), pages, topic, seed)
	if err != nil {
		return err
	}
	if err := m.WriteFile(filepath.Join(dir, "topic.model")); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "starts"), []byte(strings.Join(web.Starts(), "\n")+"\n"), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "requests"))
	if err != nil {
		return err
	}
	defer f.Close()
	var mu sync.Mutex // guards out
	out := bufio.NewWriter(f)
	log.Printf("serving %d pages, %d on topic", len(pages), web.OnTopic())
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		url := r.URL.String()
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		a, ok := web.Answer(url)
		if !ok {
			a.Kind = "missing"
		}
		mu.Lock()
		fmt.Fprintf(out, "%v\t%s\t%s\n", a.OnTopic, a.Kind, a.Name)
		err := out.Flush()
		mu.Unlock()
		if err != nil {
			log.Print(err)
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(a.HTML)) // the client may be gone
	}))
}
