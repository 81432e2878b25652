package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"fossick/datasets"
)

// segments reads trafilatura's evaluation pages.
func segments(dir string) (all []*example) {
	tests := filepath.Join(dir, "trafilatura", "tests")
	var rows map[string]struct {
		File          string
		With, Without []string
	}
	readJSON(filepath.Join(tests, "evaldata.json"), &rows)
	for _, address := range slices.Sorted(maps.Keys(rows)) {
		row := rows[address]
		file := filepath.Join(tests, "eval", row.File)
		page, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			file = filepath.Join(tests, "cache", row.File)
			page, err = os.ReadFile(file)
		}
		if err != nil {
			log.Fatal(err)
		}
		e := newExample(page, address)
		e.with, e.without, e.others.ID = row.With, row.Without, address
		wanted = append(wanted, request{address, address, file})
		all = append(all, e)
	}
	return all
}

// benchmark reads the article extraction benchmark.
func benchmark(dir string) (all []*example) {
	dir = filepath.Join(dir, "article-extraction-benchmark")
	var rows map[string]struct{ ArticleBody, URL string }
	readJSON(filepath.Join(dir, "ground-truth.json"), &rows)
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		file := filepath.Join(dir, "html", id+".html")
		page := unpacked(file)
		e := newExample(page, rows[id].URL)
		e.body, e.others.ID = rows[id].ArticleBody, id
		wanted = append(wanted, request{id, rows[id].URL, file})
		all = append(all, e)
	}
	return all
}

// unpacked reads FILE.gz and leaves FILE beside it, for the extractors.
func unpacked(file string) []byte {
	packed, err := os.Open(file + ".gz")
	if err != nil {
		log.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		log.Fatal(err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(file, page, 0o644); err != nil {
		log.Fatal(err)
	}
	return page
}

func readJSON(file string, to any) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// request is a line for scripts/extractors.
type request struct{ ID, URL, File string }

var wanted []request

// known reads what the extractors said.
func known(dir string, all []*example) {
	h, err := os.Open(filepath.Join(dir, "texts.jsonl"))
	if err != nil {
		list, err := os.Create(filepath.Join(dir, "pages.jsonl"))
		if err != nil {
			log.Fatal(err)
		}
		for _, r := range wanted {
			if err := json.NewEncoder(list).Encode(r); err != nil {
				log.Fatal(err)
			}
		}
		log.Fatal("no texts.jsonl; run: (cd scripts/extractors && go run .) <FOLDER/pages.jsonl >FOLDER/texts.jsonl")
	}
	defer h.Close()
	by := map[string]others{}
	for in := json.NewDecoder(h); in.More(); {
		var o others
		if err := in.Decode(&o); err != nil {
			log.Fatal(err)
		}
		by[o.ID] = o
	}
	for _, e := range all {
		e.others = by[e.others.ID]
	}
}

// repeated reads pages of a corpus and takes for their main text what stands on few others
// of the host.
func repeated(corpus string) (all []*example) {
	set, err := datasets.Open(corpus, datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	type host struct {
		seen, pages int
		texts       map[string]int
		examples    []*example
	}
	hosts := map[string]*host{}
	for row, err := range set.Examples() {
		if err != nil || row.HTML == "" || len(row.HTML) > 300_000 {
			continue
		}
		e := newExample([]byte(row.HTML), row.URL)
		h := hosts[e.host]
		if h == nil {
			h = &host{texts: map[string]int{}}
			hosts[e.host] = h
		}
		if h.seen++; h.seen%4 != 1 || h.pages == compared {
			continue
		}
		h.pages++
		on := map[string]bool{}
		for i := range e.view.Document.Blocks {
			on[string(e.view.TextOf(i))] = true
		}
		for text := range on {
			h.texts[text]++
		}
		if len(h.examples) < perHost {
			h.examples = append(h.examples, e)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		h := hosts[name]
		if h.pages < 10 {
			continue
		}
		for _, e := range h.examples {
			e.learnFromHost(h.texts, h.pages)
			all = append(all, e)
		}
	}
	return all
}
