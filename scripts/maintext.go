//go:build ignore

// Maintext grows the forests of package maintext and measures them beside trafilatura and
// Readability.
//
//	go run scripts/maintext.go FOLDER [FOREST]
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
// benchmark has. They are labelled by the two extractors, each weighted by how well it keeps to the
// page's own wanted and unwanted segments. Also pages of three quarters of debdocs' hosts,
// where a text on more than a quarter of a host's pages is none of the page's own.
// Measured on the last quarters, and on the benchmark, from which nothing was chosen.
package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"fossick/datasets"
	"fossick/maintext"
	"fossick/maintext/blocks"
	"fossick/maintext/forest"

	"golang.org/x/net/html/charset"
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
		log.Fatal("usage: go run scripts/maintext.go FOLDER [FOREST]")
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
func divide(e *example, learn, test []*example) (_, _ []*example) {
	if e.part() == 3 {
		return learn, append(test, e)
	}
	return append(learn, e), test
}

func (e *example) part() uint32 {
	h := fnv.New32a()
	h.Write([]byte(e.host))
	return h.Sum32() >> 8 % 4
}

func newExample(page []byte, address string) *example {
	at, err := url.Parse(address)
	if err != nil {
		log.Fatal(err)
	}
	return &example{host: strings.TrimPrefix(at.Host, "www."), view: blocks.Describe(blocks.Read(inUTF8(page)))}
}

func inUTF8(page []byte) []byte {
	if utf8.Valid(page) {
		return page
	}
	r, err := charset.NewReader(strings.NewReader(string(page)), "text/html")
	if err != nil {
		return page
	}
	text, _ := io.ReadAll(r)
	return text
}

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

// learnFromOthers labels the blocks of a page, and says whether anything is to be learned.
func (e *example) learnFromOthers() bool {
	blocks := e.view.Document.Blocks
	tra, read := newReference(e.others.Trafilatura), newReference(e.others.Readability)
	goodTra, goodRead := e.right(tra.flat), e.right(read.flat)
	trustTra, trustRead := 1.2*goodTra*goodTra*goodTra+.01, goodRead*goodRead*goodRead+.01
	e.class, e.weight = make([]float32, len(blocks)), make([]float32, len(blocks))
	total := 0.0
	for i, b := range blocks {
		text := string(e.view.TextOf(i))
		p := (tra.holds(text)*trustTra + read.holds(text)*trustRead) / (trustTra + trustRead)
		class, weight := math.Round(p), math.Abs(p-.5)*1.6+.2
		if said := e.segment(flatten(text)); said >= 0 {
			class, weight = said, 2
		}
		weight *= math.Sqrt(float64(b.Words))
		e.class[i], e.weight[i] = float32(class), float32(weight)
		total += weight
	}
	best := max(goodTra, goodRead)
	if total == 0 || best < .5 {
		return false
	}
	e.scale(30 * best / total)
	return true
}

// scale makes the weights of a page come to as much whatever its length.
func (e *example) scale(by float64) {
	for i := range e.weight {
		e.weight[i] *= float32(by)
	}
}

// segment is 1 for a block with a wanted segment, 0 for one that is an unwanted one, else -1.
func (e *example) segment(flat string) float64 {
	said := -1.0
	for _, s := range e.with {
		if f := flatten(s); len(f) > 12 && strings.Contains(flat, f) {
			said = 1
		}
	}
	for _, s := range e.without {
		if f := flatten(s); len(f) > 6 && strings.Contains(flat, f) && len(flat) < 4*len(f) {
			said = 0
		}
	}
	return said
}

// right is the share of a page's segments that a text has right.
func (e *example) right(flat string) float64 {
	n := 0
	for _, s := range e.with {
		if strings.Contains(flat, flatten(s)) {
			n++
		}
	}
	for _, s := range e.without {
		if !strings.Contains(flat, flatten(s)) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(e.with)+len(e.without)))
}

// reference is a text in which blocks are looked up.
type reference struct {
	flat string
	runs map[string]int // of three words
}

func newReference(text string) reference { return reference{flatten(text), runs(text, 3)} }

// holds is the share of a block that a text has.
func (r reference) holds(block string) float64 {
	words := wordRE.FindAllString(block, -1)
	if len(words) < 6 {
		if len(words) > 0 && strings.Contains(r.flat, flatten(block)) {
			return 1
		}
		return 0
	}
	n := 0
	for i := range len(words) - 2 {
		if r.runs[strings.Join(words[i:i+3], " ")] > 0 {
			n++
		}
	}
	return float64(n) / float64(len(words)-2)
}

var wordRE = regexp.MustCompile(`[\pL\pN_]+`)

func flatten(s string) string { return " " + strings.Join(wordRE.FindAllString(s, -1), " ") + " " }

// runs counts the runs of n words.
func runs(s string, n int) map[string]int {
	words := wordRE.FindAllString(s, -1)
	count := map[string]int{}
	for i := 0; i <= max(0, len(words)-n); i++ {
		if run := strings.Join(words[i:min(len(words), i+n)], " "); run != "" {
			count[run]++
		}
	}
	return count
}

const (
	perHost  = 25 // pages to learn from
	compared = 50 // pages that texts are looked up in
)

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

func (e *example) learnFromHost(texts map[string]int, pages int) {
	blocks := e.view.Document.Blocks
	e.class, e.weight = make([]float32, len(blocks)), make([]float32, len(blocks))
	total := 0.0
	var body strings.Builder
	for i, b := range blocks {
		text := string(e.view.TextOf(i))
		n := texts[text]
		weight := 1.0
		switch share := float64(n) / float64(pages); {
		case share > .25:
		case share > .1 && n > 2: // nobody knows
			weight = .1
		default:
			e.class[i] = 1
			body.WriteString(text + "\n")
			if b.Words < 4 {
				weight = .5
			}
		}
		weight *= math.Sqrt(float64(b.Words))
		e.weight[i] = float32(weight)
		total += weight
	}
	e.body = body.String()
	e.scale(6 / max(1, total))
}

var options = forest.Options{Trees: 90, Leaves: 24, Rate: .12, Features: .6, Ridge: 1, Least: 3, Seed: 1}

// grow grows both forests. The second learns from opinions of first ones that had not seen
// the page.
func grow(learn []*example) [2]*forest.Forest {
	for part := range uint32(3) {
		var in, out []*example
		for _, e := range learn {
			if e.part() == part {
				out = append(out, e)
			} else {
				in = append(in, e)
			}
		}
		f := forest.Grow(sample(in), blocks.FirstSize, options)
		for _, e := range out {
			p := make([]float32, len(e.view.Rows()))
			for i, row := range e.view.Rows() {
				p[i] = f.Chance(row)
			}
			e.view.Opinions(p)
		}
	}
	all := sample(learn)
	return [2]*forest.Forest{forest.Grow(all, blocks.FirstSize, options), forest.Grow(all, blocks.Size, options)}
}

func sample(of []*example) (s forest.Sample) {
	for _, e := range of {
		s.Rows = append(s.Rows, e.view.Rows()...)
		s.Class = append(s.Class, e.class...)
		s.Weights = append(s.Weights, e.weight...)
	}
	return s
}

// text is what the forests choose of a page.
func (e *example) text(forests [2]*forest.Forest, cut float32) string {
	var out strings.Builder
	for i, p := range maintext.Chances(e.view.Document, forests) {
		if p >= cut {
			out.Write(e.view.TextOf(i))
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// rate is F1, precision and recall.
func rate(precision, recall float64) string {
	return fmt.Sprintf("%.3f\t%.3f\t%.3f", 2*precision*recall/(precision+recall), precision, recall)
}

// shingled is the measure of the article extraction benchmark: runs of four words that text
// and truth share, means over pages.
func shingled(on []*example, text func(*example) string) string {
	var precision, recall, texts, truths float64
	for _, e := range on {
		truth, said := runs(e.body, 4), runs(text(e), 4)
		both, all, asked := 0, 0, 0
		for run, n := range said {
			all += n
			both += min(n, truth[run])
		}
		for _, n := range truth {
			asked += n
		}
		if all > 0 {
			precision += float64(both) / float64(all)
			texts++
		}
		if asked > 0 {
			recall += float64(both) / float64(asked)
			truths++
		}
	}
	return rate(precision/texts, recall/truths)
}

// found is trafilatura's measure: wanted segments that are found, unwanted ones that are not.
func found(on []*example, text func(*example) string) string {
	var good, bad, missed float64
	for _, e := range on {
		flat := flatten(text(e))
		for _, s := range e.with {
			if strings.Contains(flat, flatten(s)) {
				good++
			} else {
				missed++
			}
		}
		for _, s := range e.without {
			if strings.Contains(flat, flatten(s)) {
				bad++
			}
		}
	}
	return rate(good/(good+bad), good/(good+missed))
}
