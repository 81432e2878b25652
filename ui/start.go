package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"fossick/crawler/control"
	"fossick/internal/cli"
	"fossick/internal/page"
)

// Start lets the page start commands in the working folder. The page chooses among the fields of a
// task; it has no say in other flags, in programs, or in paths outside of that folder.
type Start struct {
	Program string               // of fossick
	Stores  func() []string      // folders of stores, below the working folder
	Topics  func() any           // those that crawls know by name
	Ended   func(command string) // gets, for each crawl that Stop ends, what resumes it; may be nil
}

// task is what the page asks to run. Which fields count depends on the kind.
type task struct {
	Kind    string `json:"kind"`    // demo, web, topic, crawl or resume
	Preview bool   `json:"preview"` // answer with the command, and do not run it

	Topic    string   `json:"topic"`
	Keywords []string `json:"keywords"`
	Seeds    []string `json:"seeds"`
	Pages    bool     `json:"pages"` // of a topic: the pages that came by /api/examples
	List     bool     `json:"list"`  // likewise the list of start pages
	Store    int      `json:"store"` // of resume: its index in /api/stores

	Contact  string  `json:"contact"`
	Demo     bool    `json:"demo"` // crawl the demo's web, not the public one
	MaxPages int     `json:"max_pages"`
	Minutes  float64 `json:"minutes"`
	PerHost  int     `json:"per_host"`
	Depth    int     `json:"depth"`
	Links    string  `json:"links"`
	Lang     string  `json:"lang"`
}

// Bounds of a task.
const (
	mostTask  = 1 << 20 // bytes
	mostText  = 2083    // bytes of one text
	mostSeeds = 200
	mostCount = 1_000_000_000
)

// Folders that tasks make, below the working folder.
const (
	demoFolder     = "fossick-demo"
	examplesFolder = "fossick-examples"
	pagesFolder    = "pages"
	topicsFolder   = "topics" // of topic new
	listFile       = "seeds.txt"
)

var (
	topicName = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]{0,63}$`)
	langName  = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)
)

// command returns the arguments of a task, and the store that it will make or resume. Each value
// stands behind its flag's equals sign, so that none is taken for a flag.
func (s *Server) command(o *task) (args []string, dir string, err error) {
	add := func(flag, value string) { args = append(args, "--"+flag+"="+value) }
	switch o.Kind {
	case "demo":
		return []string{"demo", "--out=" + demoFolder}, filepath.Join(demoFolder, "focus"), nil
	case "web":
		return []string{"serve", "demo", "--json"}, "", nil
	case "topic", "crawl":
		if !topicName.MatchString(o.Topic) {
			return nil, "", cli.Usagef("topic %.70q: give a name of letters and digits, without blanks", o.Topic)
		}
	case "resume":
		one := s.stored(o.Store)
		if one == nil {
			return nil, "", cli.Usagef("there is no such store; see /api/stores")
		}
		if dir = one.dir; control.HasSocket(dir) {
			return nil, "", cli.Usagef("the crawl in %s is running", dir)
		}
	default:
		return nil, "", cli.Usagef("kind %.20q: want demo, web, topic, crawl or resume", o.Kind)
	}
	switch o.Kind {
	case "topic":
		args = []string{"topic", "new", o.Topic}
	case "crawl":
		dir = s.jobs.freeStore("fossick-" + o.Topic)
		args = []string{"focus", "--topic=" + o.Topic}
	case "resume":
		args = []string{"focus", "--resume"}
	}
	if dir != "" {
		add("store", dir)
	}
	if o.Kind != "resume" {
		if err := o.describe(add); err != nil {
			return nil, "", err
		}
	}
	if o.Kind != "topic" {
		if err := o.limit(add); err != nil {
			return nil, "", err
		}
	}
	asks := o.Kind != "topic" || o.fromSeeds() // something of the web
	if o.Contact != "" && asks {
		if err := plain("contact", o.Contact); err != nil {
			return nil, "", err
		}
		add("contact", o.Contact)
	}
	if o.Demo && asks {
		addr := s.jobs.web()
		if addr == "" {
			return nil, "", cli.Usagef("the demo's web does not run; start it first")
		}
		add("proxy", "http://"+addr)
	}
	return args, dir, nil
}

// fromSeeds reports whether a topic has its words from its start pages, since nothing else has any.
func (o *task) fromSeeds() bool { return o.Kind == "topic" && len(o.Keywords) == 0 && !o.Pages }

// describe adds what a topic or a new crawl is about.
func (o *task) describe(add func(flag, value string)) error {
	for _, word := range o.Keywords {
		if strings.Contains(word, ",") {
			return cli.Usagef("keyword %.50q: give words without commas", word)
		}
	}
	if len(o.Keywords) > 0 {
		words := strings.Join(o.Keywords, ",")
		if err := plain("keywords", words); err != nil {
			return err
		}
		add("keywords", words)
	}
	if len(o.Seeds) > mostSeeds {
		return cli.Usagef("%d start pages: type at most %d, or drop a file with more", len(o.Seeds), mostSeeds)
	}
	for _, seed := range o.Seeds {
		if err := plain("start page", seed); err != nil {
			return err
		}
		if !strings.Contains(seed, "://") {
			seed = "https://" + seed
		}
		if _, err := page.Normalize(seed); err != nil {
			return cli.Usagef("start page %.100q: %v; give an http or https URL", seed, err)
		}
		add("seed", seed)
	}
	if o.Kind != "topic" {
		return nil
	}
	if o.Pages {
		add("examples", filepath.Join(examplesFolder, o.Topic, pagesFolder))
	}
	if o.List {
		add("seeds", filepath.Join(examplesFolder, o.Topic, listFile))
	}
	if o.fromSeeds() {
		if len(o.Seeds) == 0 && !o.List {
			return cli.Usagef("topic %s: nothing describes it; type words, or drop pages or a list of start pages", o.Topic)
		}
		add("keywords-from", "seeds")
	}
	return nil
}

// limit adds a crawl's limits.
func (o *task) limit(add func(flag, value string)) error {
	for _, n := range []struct {
		flag  string
		value int
	}{{"max-pages", o.MaxPages}, {"max-depth", o.Depth}, {"max-pages-per-host", o.PerHost}} {
		if n.value < 0 || n.value > mostCount {
			return cli.Usagef("--%s %d: want a number up to %d", n.flag, n.value, mostCount)
		}
		if n.value > 0 {
			add(n.flag, strconv.Itoa(n.value))
		}
	}
	if !(o.Minutes >= 0 && o.Minutes <= 60*24*365) {
		return cli.Usagef("minutes %g: want a number of at most a year", o.Minutes)
	}
	if o.Minutes > 0 {
		add("max-time", fmt.Sprintf("%gm", o.Minutes))
	}
	switch o.Links {
	case "":
	case "all", "site", "external":
		add("links", o.Links)
	default:
		return cli.Usagef("links %.20q: want all, site or external", o.Links)
	}
	if o.Lang != "" {
		if !langName.MatchString(o.Lang) {
			return cli.Usagef("lang %.20q: want a code such as en", o.Lang)
		}
		add("lang", o.Lang)
	}
	return nil
}

// plain refuses a text that is long, or that a terminal would not show as it is.
func plain(what, text string) error {
	if len(text) > mostText || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return cli.Usagef("%s %.50q: want one line of at most %d bytes", what, text, mostText)
	}
	return nil
}

// freeStore returns a name that neither a file nor a crawl that starts has.
func (all *jobs) freeStore(name string) string {
	for n, dir := 2, name; ; n++ {
		starts := slices.ContainsFunc(all.list(), func(j *job) bool { return j.dir == dir && j.running() })
		if _, err := os.Lstat(dir); !starts && errors.Is(err, os.ErrNotExist) || n > 1000 {
			return dir // focus refuses what exists
		}
		dir = fmt.Sprintf("%s-%d", name, n)
	}
}

// line returns a command as a POSIX shell takes it.
func line(args []string) string {
	words := []string{"fossick"}
	for _, arg := range args {
		if safeWord.MatchString(arg) {
			words = append(words, arg)
		} else {
			words = append(words, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
		}
	}
	return strings.Join(words, " ")
}

var safeWord = regexp.MustCompile(`^[a-zA-Z0-9_.,:/@%+=-]+$`)

type startAnswer struct {
	Line string   `json:"line"`
	Job  *jobInfo `json:"job"` // null for a preview
}

// startJob answers POST /api/start.
func (s *Server) startJob(r *http.Request) (any, error) {
	var o task
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, mostTask))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil {
		return nil, cli.Usagef("task: %v", err)
	}
	args, dir, err := s.command(&o)
	if err != nil {
		return nil, err
	}
	v := startAnswer{Line: line(args)}
	if o.Preview {
		return v, nil
	}
	if o.Kind == "resume" {
		s.stored(o.Store).rest.source.(*resting).release(true)
	}
	j, err := s.jobs.start(s.start.Program, o.Kind, args, dir)
	if err != nil {
		return nil, err
	}
	info := s.info(j)
	v.Job = &info
	return v, nil
}

// listJobs answers GET /api/start.
func (s *Server) listJobs(*http.Request) (any, error) {
	s.look()
	v := struct {
		Most   int       `json:"most"` // commands at the same time
		Jobs   []jobInfo `json:"jobs"` // the latest first
		Topics any       `json:"topics"`
		Web    *string   `json:"web"` // address of the demo's web; null while it does not run
	}{Most: mostJobs, Jobs: []jobInfo{}, Topics: s.start.Topics()}
	for _, j := range s.jobs.list() {
		v.Jobs = append(v.Jobs, s.info(j))
	}
	if addr := s.jobs.web(); addr != "" {
		v.Web = &addr
	}
	return v, nil
}

// stopJob answers POST /api/start/{id}/stop.
func (s *Server) stopJob(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	j := s.jobs.of(id)
	if err != nil || j == nil {
		return nil, cli.Usagef("there is no such command; see /api/start")
	}
	j.stop()
	return s.info(j), nil
}

// info describes a command, with the index of its store once there is one.
func (s *Server) info(j *job) jobInfo {
	v := j.info()
	for i, one := range s.all() {
		if one.dir == j.dir && j.dir != "" {
			v.Store = &i
		}
	}
	return v
}

// Bounds of examples.
const (
	mostExamples     = 2000
	mostExampleBytes = 8 << 20 // of one
	mostUpload       = 128 << 20
)

// examples answers POST /api/examples: it keeps pages (parts named page) and lists of start pages
// (list) for a topic that is to be made, instead of earlier ones.
func (s *Server) examples(r *http.Request) (any, error) {
	topic := r.URL.Query().Get("topic")
	if !topicName.MatchString(topic) {
		return nil, cli.Usagef("topic %.70q: give a name of letters and digits, without blanks", topic)
	}
	if _, err := os.Lstat(filepath.Join(topicsFolder, topic)); err == nil {
		return nil, cli.Usagef("topic %s exists already; give another name", topic)
	}
	r.Body = http.MaxBytesReader(nil, r.Body, mostUpload)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, cli.Usagef("examples: %v", err)
	}
	root, err := os.OpenRoot(".") // nothing outside is written, also where a link leads there
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir := filepath.Join(examplesFolder, topic)
	if err := root.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := root.MkdirAll(filepath.Join(dir, pagesFolder), 0o755); err != nil {
		return nil, err
	}
	v := struct {
		Pages int    `json:"pages"`
		Lists int    `json:"lists"`
		Dir   string `json:"dir"`
	}{Dir: dir}
	var list strings.Builder
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, cli.Usagef("examples: %v; send at most %d MB", err, mostUpload>>20)
		}
		text, err := io.ReadAll(io.LimitReader(part, mostExampleBytes+1))
		switch {
		case err != nil:
			return nil, cli.Usagef("examples: %v; send at most %d MB", err, mostUpload>>20)
		case len(text) > mostExampleBytes:
			return nil, cli.Usagef("%.100q: it has more than %d MB; leave it out", part.FileName(), mostExampleBytes>>20)
		case part.FormName() == "list":
			v.Lists++
			list.Write(text)
			list.WriteByte('\n')
			continue
		case part.FormName() != "page":
			return nil, cli.Usagef("examples: a part is named %.20q; want page or list", part.FormName())
		case v.Pages == mostExamples:
			return nil, cli.Usagef("examples: send at most %d pages", mostExamples)
		}
		v.Pages++
		name := fmt.Sprintf("%04d.html", v.Pages)
		if strings.EqualFold(filepath.Ext(part.FileName()), ".txt") {
			name = fmt.Sprintf("%04d.txt", v.Pages)
		}
		if err := root.WriteFile(filepath.Join(dir, pagesFolder, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	if v.Lists > 0 {
		err = root.WriteFile(filepath.Join(dir, listFile), []byte(list.String()), 0o644)
	}
	return v, err
}

// webAddress finds the address in what serve --json prints.
var webAddress = regexp.MustCompile(`"addr":\s*"(127\.0\.0\.1:\d+)"`)

// resumes returns the command that resumes a stopped crawl.
func resumes(dir string) string { return line([]string{"focus", "--resume", "--store=" + dir}) }
