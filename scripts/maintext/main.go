// Maintext grows the forests of package maintext and measures them beside trafilatura and
// Readability.
//
//	go run ./scripts/maintext FOLDER [FOREST]
//
// FOLDER holds, of public benchmarks:
//
//	trafilatura/tests            its evaluation pages and evaldata.json
//	article-extraction-benchmark ground-truth.json and html/
//	texts.jsonl                  what scripts/extractors made of pages.jsonl
//
// Without texts.jsonl it writes pages.jsonl and says what to do. With FOREST it grows new
// forests and writes them there; else it measures those built in.
//
// Learned from: three quarters of trafilatura's pages by host, none of a host that the
// benchmark has. They are labelled by the two extractors, each weighted by how well it
// keeps to the page's own wanted and unwanted segments. Also pages of three quarters of debdocs' hosts,
// where a text on more than a quarter of a host's pages is none of the page's own.
// Measured on the last quarters, and on the benchmark, from which nothing was chosen.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/internal/maintext"
	"fossick/internal/maintext/blocks"
)

// example is a page with what is known of its main text.
type example struct {
	host, body    string // body: the whole main text, where it is known
	with, without []string
	others        others
	view          *blocks.View
	class, weight []float32
}

type others struct{ ID, Trafilatura, Readability string }

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: go run ./scripts/maintext FOLDER [FOREST]")
	}
	dir := os.Args[1]
	news, bench := segments(dir), benchmark(dir)
	known(dir, append(slices.Clone(news), bench...))
	avoid := map[string]bool{}
	for _, e := range bench {
		avoid[e.host] = true
	}
	news = slices.DeleteFunc(news, func(e *example) bool { return avoid[e.host] || !e.learnFromOthers() })
	manuals := repeated(filepath.Join(data(), "debdocs"))
	var learn, test, testManuals []*example
	for _, e := range news {
		learn, test = divide(e, learn, test)
	}
	for _, e := range manuals {
		learn, testManuals = divide(e, learn, testManuals)
	}
	fmt.Printf("%d pages to learn from; %d of news, %d of manuals and %d of the benchmark to measure on\n", len(learn), len(test), len(testManuals), len(bench))

	forests := maintext.Forests()
	if len(os.Args) > 2 {
		forests = grow(learn)
		bytes := forests[1].Append(forests[0].Append(nil))
		if err := os.WriteFile(os.Args[2], bytes, 0o644); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("extractor\tcut\tbenchmark F1\tprecision\trecall\tsegments F1\tprecision\trecall\tmanuals F1\tprecision\trecall")
	show := func(name string, text func(*example) string) {
		fmt.Printf("%s\t%s\t%s", name, shingled(bench, text), found(test, text))
		if !strings.HasPrefix(name, "fossick") {
			fmt.Println("\t\t\t")
			return
		}
		fmt.Printf("\t%s\n", shingled(testManuals, text))
	}
	show("trafilatura\t", func(e *example) string { return e.others.Trafilatura })
	show("readability\t", func(e *example) string { return e.others.Readability })
	for _, cut := range []float32{.4, .45, .5, .55, .6, .65, .7} {
		show(fmt.Sprintf("fossick\t%g", cut), func(e *example) string { return e.text(forests, cut) })
	}
}

// data is the folder of the corpora.
func data() string {
	if dir := os.Getenv("FOSSICK_DATA"); dir != "" {
		return dir
	}
	return "../shared/data"
}

// divide puts three quarters of hosts to learn from.
