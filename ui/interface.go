package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"fossick/crawler/control"
	"fossick/crawler/story"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// source is a store, at rest or of a running crawl.
type source interface {
	// Open gives the store for one answer. done must follow soon: a crawl may wait for it.
	Open(ctx context.Context) (s *store.Store, done func() error, err error)
	Story(ctx context.Context, url string) (*story.Story, error)
	// Queue returns the n best URLs that wait, and how many wait.
	Queue(ctx context.Context, n int) ([]control.Best, int, error)
	Ask(ctx context.Context, topic string, n int) ([]control.Asked, error)
	Label(ctx context.Context, r control.LabelRequest) (*control.LabelAnswer, error)
	// Ended is closed when no more questions are answered.
	Ended() <-chan struct{}
	// Pausing is closed when what has the store open should let go of it.
	Pausing() <-chan struct{}
}

// Crawl is a running crawl.
type Crawl struct {
	Status func(context.Context) monitor.Status
	Change func(context.Context, Change) error // nil: it cannot be changed
}

// Change is what a person changes in a running crawl: one of the fields.
type Change struct {
	Action  string   `json:"action"` // pause, go or stop
	Limits  *Limits  `json:"limits"`
	Exclude *Exclude `json:"exclude"`
}

// Limits are new limits; null leaves one as it is, and 0 takes it away.
type Limits struct {
	MaxPages   *uint64  `json:"max_pages"`
	MaxSeconds *float64 `json:"max_seconds"` // of this session
}

// Exclude names URLs that the crawl must not ask for any more: a host, or a pattern.
type Exclude struct {
	Host    string `json:"host"`
	Pattern string `json:"pattern"` // a regular expression that the URL matches somewhere
}

// Regexp returns the pattern of the URLs.
func (e *Exclude) Regexp() (*regexp.Regexp, error) {
	switch {
	case (e.Host == "") == (e.Pattern == ""):
		return nil, cli.Usagef("exclude: give a host or a pattern")
	case e.Host != "":
		address, err := page.Normalize("http://" + e.Host + "/")
		name := page.HostName(address)
		if err != nil || name == "" {
			return nil, cli.Usagef("exclude: %.100q is no host; give a name as example.org", e.Host)
		}
		return regexp.Compile(`^https?://` + regexp.QuoteMeta(name) + `(:\d+)?/`)
	}
	x, err := regexp.Compile(e.Pattern)
	if err != nil {
		return nil, cli.Usagef("exclude: %v", err)
	}
	return x, nil
}

// Interface answers questions about one store. It is safe for concurrent use.
type Interface struct {
	source
	urls  func(*store.Store) (*page.Normalizer, error)
	text  Text
	since Changes
	crawl *Crawl // nil at rest
	dir   string
	mux   *http.ServeMux

	ctx  context.Context // of the work beside answers; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	index  index
	stream stream
	search searches
	hosts  hostTable
	links  linkTable
	queued heldQueue
}

// Changes returns what has changed in a store since a time, as fossick watch --since does, in its JSON
// form; with a URL the difference of that page's main text.
type Changes = func(ctx context.Context, s *store.Store, since, url string) (any, error)

// Text returns a page's main text, plain and as Markdown.
type Text = func(body []byte, p *store.Page) (text, markdown string)

// New returns the interface of the crawl that answers at a control socket.
func New(socket *control.Socket, urls func(*store.Store) (*page.Normalizer, error), text Text, since Changes, crawl Crawl) *Interface {
	return newInterface(socket, socket.Store.Dir(), urls, text, since, &crawl)
}

func newInterface(from source, dir string, urls func(*store.Store) (*page.Normalizer, error), text Text, since Changes, crawl *Crawl) *Interface {
	f := &Interface{source: from, dir: dir, urls: urls, text: text, since: since, crawl: crawl, mux: http.NewServeMux()}
	f.ctx, f.stop = context.WithCancel(context.Background())
	for pattern, answer := range f.routes() {
		f.mux.HandleFunc(pattern, answer)
	}
	f.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "there is no such question about a store; see /api/openapi.yaml")
	})
	return f
}

// routes are the questions about a store; openapi.yaml describes them.
func (f *Interface) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}": answering(f.summary), "GET /status": answering(f.status), "GET /events": f.events, "GET /pages": answering(f.pages),
		"GET /queue": answering(f.queue), "GET /hosts": answering(f.listHosts), "GET /story": answering(f.story), "GET /page": answering(f.page),
		"GET /snapshot": f.snapshot, "GET /ask": answering(f.ask), "POST /label": answering(f.label), "POST /crawl": answering(f.change),
		"GET /states": answering(f.states), "GET /export": f.export, "GET /groups": answering(f.groups), "GET /links": answering(f.linksOfHosts),
		"GET /changes": answering(f.changes), "GET /agents": answering(f.agents),
	}
}

func (f *Interface) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.mux.ServeHTTP(w, r) }

// Close ends the streams of events and the work beside answers, and waits for that work.
func (f *Interface) Close() error {
	f.index.passMu.Lock() // no pass begins any more
	f.stop()
	f.index.passMu.Unlock()
	f.work.Wait()
	if r, ok := f.source.(*resting); ok {
		return r.end()
	}
	return nil
}

func nameOf(dir string) string {
	if path, err := filepath.Abs(dir); err == nil {
		return filepath.Base(path)
	}
	return dir
}

// summary answers GET of the store itself.
func (f *Interface) summary(r *http.Request) (any, error) {
	s, done, err := f.Open(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	info := s.Info()
	v := summary{Name: nameOf(f.dir), Dir: f.dir, Topic: info.Topic, Topics: info.Topics, Running: f.crawl != nil, Pages: counts.Pages, Relevant: counts.Relevant}
	if v.Topics == nil {
		v.Topics = []string{}
	}
	if counts.Pages > 0 {
		harvest := float64(counts.Relevant) / float64(counts.Pages)
		v.Harvest = &harvest
		if p, err := s.Page(counts.LastPage()); err == nil {
			at := time.UnixMilli(p.At).UTC()
			v.Updated = &at
		}
	}
	return v, nil
}

// curvePoint is the harvest after some pages.
type curvePoint struct {
	Fetched  int `json:"fetched"`
	Relevant int `json:"relevant"`
}

type statusAnswer struct {
	monitor.Status
	Changeable bool         `json:"changeable"`      // POST /crawl works
	Curve      []curvePoint `json:"curve,omitempty"` // at most 200 points
}

// status answers GET /status.
func (f *Interface) status(r *http.Request) (any, error) {
	relevant, err := f.relevant(r.Context())
	if err != nil {
		return nil, err
	}
	v, err := f.statusNow(r.Context(), relevant)
	v.Curve = curveOf(relevant)
	return v, err
}

// statusNow returns the status without its curve.
func (f *Interface) statusNow(ctx context.Context, relevant []bool) (v statusAnswer, err error) {
	if f.crawl != nil {
		return f.crawl.status(ctx), nil
	}
	s, done, err := f.Open(ctx)
	if err != nil {
		return v, err
	}
	defer done()
	v.Status, err = monitor.StatusOf(s, relevant)
	return v, err
}

func (c *Crawl) status(ctx context.Context) statusAnswer {
	return statusAnswer{Status: c.Status(ctx), Changeable: c.Change != nil}
}

const curvePoints = 200

func curveOf(relevant []bool) []curvePoint {
	points, hits, drawn := []curvePoint{}, 0, 0
	for i, hit := range relevant {
		if hit {
			hits++
		}
		if due := (i + 1) * curvePoints / len(relevant); due > drawn || i == len(relevant)-1 {
			drawn = due
			points = append(points, curvePoint{i + 1, hits})
		}
	}
	return points
}

// numberOf reads a whole number of a query, from least to most.
func numberOf(r *http.Request, name string, without, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return without, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, cli.Usagef("%s=%.50q: want a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// queue answers GET /queue.
func (f *Interface) queue(r *http.Request) (any, error) {
	n, err := numberOf(r, "limit", 50, 1, 200)
	if err != nil {
		return nil, err
	}
	if f.crawl == nil {
		links, total, err := f.Queue(r.Context(), n)
		return queueAnswer{total, links}, err
	}
	h := &f.queued
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n != n || time.Since(h.at) > max(queueHolds, queueShare*h.took) {
		began := time.Now()
		links, total, err := f.Queue(r.Context(), n)
		if err != nil {
			return nil, err
		}
		h.queueAnswer, h.n, h.at, h.took = queueAnswer{total, links}, n, time.Now(), time.Since(began)
	}
	return h.queueAnswer, nil
}

type queueAnswer struct {
	Total int            `json:"total"`
	Links []control.Best `json:"links"`
}

// heldQueue is the last answer about a running crawl's queue, which several tabs ask for again and again.
type heldQueue struct {
	mu sync.Mutex // guards the fields below, held while they are read
	queueAnswer
	n    int // of links wanted
	at   time.Time
	took time.Duration
}

// forget makes the next question read the queue again.
func (h *heldQueue) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = time.Time{}
}

// A queue is not read again for a while: the best links cost the crawl's owner a turn, and their reasons
// a scoring.
const (
	queueHolds = time.Second
	queueShare = 200 // reading it takes at most one part in so many of the time
)

// askedPage is a page or link whose label would change the crawl much.
type askedPage struct {
	URL   string  `json:"url"`
	Title string  `json:"title"`
	Text  string  `json:"text"`
	Score float64 `json:"score"` // probability that it is on topic
	Kind  string  `json:"kind"`  // page or link
	Why   string  `json:"why"`
}

// ask answers GET /ask.
func (f *Interface) ask(r *http.Request) (any, error) {
	n, err := numberOf(r, "n", 10, 1, 200)
	if err != nil {
		return nil, err
	}
	all, err := f.Ask(r.Context(), r.URL.Query().Get("topic"), n)
	if err != nil {
		return nil, err
	}
	asked := []askedPage{}
	for _, a := range all {
		one := askedPage{URL: a.URL, Title: cli.Cut(a.Title, titleShown), Text: a.Text, Score: a.Probability, Kind: "page", Why: a.Why}
		if a.Link != nil {
			one.Kind, one.Title = "link", a.Link.Text
		}
		asked = append(asked, one)
	}
	return struct {
		Asked []askedPage `json:"asked"`
	}{asked}, nil
}

// scored is a link of the queue before or after a label.
type scored struct {
	URL   string  `json:"url"`
	Score float64 `json:"score"`
}

type labelledAnswer struct {
	control.LabelAnswer
	Before  []scored `json:"before"` // the best links that wait
	After   []scored `json:"after"`
	Changed int      `json:"changed"` // places of these with another link
}

// comparedLinks is how many of the best links are shown before and after a label.
const comparedLinks = 10

// label answers POST /label.
func (f *Interface) label(r *http.Request) (any, error) {
	var asked control.LabelRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, cli.Usagef("labels: %v", err)
	}
	for _, l := range asked.Labels {
		if err := l.Check(); err != nil {
			return nil, err
		}
	}
	if len(asked.Labels) == 0 {
		return nil, cli.Usagef("labels: give at least one URL with yes, no or none")
	}
	before, err := f.best(r.Context())
	if err != nil {
		return nil, err
	}
	said, err := f.Label(r.Context(), asked)
	f.queued.forget()
	if err != nil {
		return nil, err
	}
	v := labelledAnswer{LabelAnswer: *said, Before: before}
	err = f.labelled(r.Context(), said.Labels)
	if err == nil {
		v.After, err = f.best(r.Context())
	}
	if err != nil { // the labels are stored all the same
		v.After = before
	}
	for i := range v.After {
		if i >= len(before) || before[i].URL != v.After[i].URL {
			v.Changed++
		}
	}
	return v, nil
}

func (f *Interface) best(ctx context.Context) ([]scored, error) {
	links, _, err := f.Queue(ctx, comparedLinks)
	all := []scored{}
	for _, l := range links {
		all = append(all, scored{l.URL, l.Score})
	}
	return all, err
}

// change answers POST /crawl.
func (f *Interface) change(r *http.Request) (any, error) {
	var to Change
	if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
		return nil, cli.Usagef("change: %v", err)
	}
	given := 0
	for _, is := range []bool{to.Action != "", to.Limits != nil, to.Exclude != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1 || to.Action != "" && to.Action != "pause" && to.Action != "go" && to.Action != "stop":
		return nil, cli.Usagef("give one of: action (pause, go or stop), limits, exclude")
	case f.crawl == nil:
		return nil, cli.Usagef("no crawl runs in %s; start it with fossick focus --resume --store %[1]s", f.dir)
	case f.crawl.Change == nil:
		return nil, cli.Usagef("several agents share this crawl; stop it and resume it with other flags")
	}
	err := f.crawl.Change(r.Context(), to)
	f.queued.forget()
	if err != nil {
		return nil, err
	}
	return f.status(r)
}

type stateCount struct {
	State string `json:"state"`
	Count uint64 `json:"count"`
}

// states answers GET /states.
func (f *Interface) states(r *http.Request) (any, error) {
	s, done, err := f.Open(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	counts, err := s.Counts()
	all := []stateCount{}
	for state, n := range counts.States {
		all = append(all, stateCount{state, n})
	}
	sortCounts(all)
	return struct {
		States []stateCount `json:"states"`
	}{all}, err
}

// wanted opens the store for a question about the URL in the query, in normal form.
func (f *Interface) wanted(r *http.Request) (s *store.Store, url string, done func() error, err error) {
	s, done, err = f.Open(r.Context())
	if err != nil {
		return nil, "", nil, err
	}
	urls, err := f.urls(s)
	if err == nil {
		url, err = story.Address(s, urls, r.URL.Query().Get("url"))
		if err != nil {
			err = cli.Usagef("url=%.200q: %v; give an http or https URL", r.URL.Query().Get("url"), err)
		}
	}
	if err != nil {
		_ = done()
		return nil, "", nil, err
	}
	return s, url, done, nil
}
