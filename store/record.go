package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"fossick/store/badgerfiles"
	"fossick/store/change"
)

// ID numbers URLs in the order of their discovery, from 1; 0 means none.
type ID uint64

type Via string

const (
	ViaSeed     Via = "seed"
	ViaLink     Via = "link"
	ViaRedirect Via = "redirect"
	ViaSitemap  Via = "sitemap"
	ViaAgent    Via = "agent" // another agent found the link and sent it to this one, which crawls its site
)

// Info describes a store. Settings are the crawl's own, for resuming it unchanged.
type Info struct {
	Format   int    `cbor:"1,keyasint"`
	Version  string `cbor:"2,keyasint"` // of the fossick that made it
	Created  int64  `cbor:"3,keyasint"` // Unix seconds
	Topic    string `cbor:"4,keyasint"`
	Settings []byte `cbor:"5,keyasint"` // JSON

	Topics []string `cbor:"6,keyasint,omitempty" json:",omitempty"` // topics that share the crawl; empty for a single topic

	Agent string `cbor:"7,keyasint,omitempty" json:",omitempty"` // the agent's name in a cluster; "" for a crawl on one machine
}

// Counts are the running totals of a crawl, over all its resumptions.
type Counts struct {
	URLs     uint64            `cbor:"1,keyasint"` // discovered, so also the last ID
	Pages    uint64            `cbor:"2,keyasint"` // stored now; see LastPage
	Relevant uint64            `cbor:"3,keyasint"`
	Requests uint64            `cbor:"4,keyasint"` // exchanges, robots.txt included
	States   map[string]uint64 `cbor:"5,keyasint"` // URLs by final state
	Codes    map[int]uint64    `cbor:"6,keyasint"` // non-200 answers to page requests by code
	Skipped  uint64            `cbor:"7,keyasint"` // URLs seen but never queued
	Bytes    uint64            `cbor:"8,keyasint"` // of bodies, decompressed
	Elapsed  time.Duration     `cbor:"9,keyasint"`
	Schemes  uint64            `cbor:"10,keyasint"` // links with schemes other than http and https

	NearDuplicates uint64 `cbor:"11,keyasint,omitempty"` // duplicates whose content is not equal
	Lost           uint64 `cbor:"12,keyasint,omitempty"` // URLs whose record was lost to damage

	Topics []TopicCounts `cbor:"13,keyasint,omitempty" json:",omitempty"` // one per topic of Info.Topics

	Parcels uint64 `cbor:"14,keyasint,omitempty" json:",omitempty"` // parcels put into the outbox so far, so the number of the last one

	Dropped uint64 `cbor:"15,keyasint,omitempty" json:",omitempty"` // pages removed because another agent stores their content

	Yields map[string]Yield `cbor:"16,keyasint,omitempty" json:",omitempty"` // of all pages, and of renderings by class; see the crawler's yields.go
}

func (c *Counts) LastPage() uint64 { return c.Pages + c.Dropped }

// Discovery is the discovery of a URL.
type Discovery struct {
	URL   string `cbor:"1,keyasint"`
	From  ID     `cbor:"2,keyasint,omitempty"` // page or redirect that named it first
	Via   Via    `cbor:"3,keyasint"`
	Depth int    `cbor:"4,keyasint,omitempty"` // links from a seed
	Hops  int    `cbor:"5,keyasint,omitempty"` // redirects in a row that led here
	At    int64  `cbor:"6,keyasint"`           // Unix milliseconds

	// For a URL from a sitemap: the exchange that fetched it, and its host (name:port).
	Exchange uint64 `cbor:"20,keyasint,omitempty"`
	AtHost   string `cbor:"21,keyasint,omitempty"`
	Modified int64  `cbor:"22,keyasint,omitempty"` // from the sitemap, Unix seconds
}

// Queued is a waiting URL's place in the frontier.
type Queued struct {
	Priority float64 `cbor:"1,keyasint"`
	Score    float64 `cbor:"2,keyasint"` // R of its best parent (paper A); 1 for a seed
	Parent   ID      `cbor:"3,keyasint,omitempty"`
	Visits   int     `cbor:"4,keyasint,omitempty"`
	Excused  int     `cbor:"5,keyasint,omitempty"` // exchanges that do not count as tries: the host or our network was down, or the page was lost

	Also []float64 `cbor:"6,keyasint,omitempty" json:",omitempty"` // its priorities by the further orderings of a mix

	Lost bool `cbor:"7,keyasint,omitempty" json:",omitempty"` // its page was stored once and lost; other agents may have dropped copies for it
}

type Visit struct {
	Start    int64  `cbor:"1,keyasint"` // Unix milliseconds
	Millis   int64  `cbor:"2,keyasint"` // duration until the last byte
	State    string `cbor:"3,keyasint"`
	Code     int    `cbor:"4,keyasint,omitempty"`
	Location ID     `cbor:"5,keyasint,omitempty"`
	Error    string `cbor:"6,keyasint,omitempty"`
	Bytes    int64  `cbor:"7,keyasint,omitempty"`

	Rest       int64 `cbor:"20,keyasint,omitempty"` // politeness delay of the host afterwards, milliseconds
	RetryAfter int64 `cbor:"21,keyasint,omitempty"` // Retry-After of the answer, milliseconds
	Own        int64 `cbor:"23,keyasint,omitempty"` // part of Rest that applies to this host alone, not to others at its address

	Was []byte `cbor:"22,keyasint,omitempty"` // checksum of the stored content that this visit replaced

	Change change.Kind `cbor:"25,keyasint,omitempty" json:",omitempty"` // change of the stored page that this visit found

	Modified int64 `cbor:"26,keyasint,omitempty" json:",omitempty"` // Last-Modified, as in change.Visit

	Wait *Wait `cbor:"24,keyasint,omitempty" json:",omitempty"` // wait for better links that preceded it

	File *FilePrice `cbor:"27,keyasint,omitempty" json:",omitempty"` // what lowered the URL's priority at that time; nil for none
}

// FilePrice is what a large file costs in the order of a crawl, by the size of such files so far.
type FilePrice struct {
	Kind  string  `cbor:"1,keyasint"` // ending of the URL
	Bytes int64   `cbor:"2,keyasint"` // expected
	Share float64 `cbor:"3,keyasint"` // of its priority that is left; 1/Share is the cost in pages
}

// Files are a number of files and their bytes as received.
type Files struct {
	Count int64 `cbor:"1,keyasint"`
	Bytes int64 `cbor:"2,keyasint"`
}

// Wait records that workers waited for better links, either for this URL or instead of fetching
// it. Priorities are those of that time.
type Wait struct {
	Since   int64   `cbor:"1,keyasint"` // Unix milliseconds
	Millis  int64   `cbor:"2,keyasint"`
	Refused bool    `cbor:"3,keyasint,omitempty"` // the URL was free but passed over; otherwise it was waited for
	Price   float64 `cbor:"4,keyasint"`           // priority that a link needed to be fetched
	Best    float64 `cbor:"5,keyasint"`           // priority of the best link waited for
	Free    float64 `cbor:"6,keyasint"`           // priority of the best free link
	Hosts   int     `cbor:"7,keyasint,omitempty"` // hosts with links worth the price; hosts at one address count once
}

// Outcome is the outcome of a URL that left the queue.
type Outcome struct {
	State  string  `cbor:"1,keyasint"`           // network state (docs/fetch.md), or another outcome; "none" if it was never requested
	Reason string  `cbor:"2,keyasint,omitempty"` // set where the state alone does not explain it
	Page   uint64  `cbor:"3,keyasint,omitempty"` // number of the stored page, or of the page it duplicates
	At     int64   `cbor:"4,keyasint"`
	Score  float64 `cbor:"5,keyasint,omitempty"` // its score when it left the queue
	Parent ID      `cbor:"6,keyasint,omitempty"`
	Next   int64   `cbor:"8,keyasint,omitempty"` // when the next visit may bring news (paper E3), Unix milliseconds; 0 never or unknown

	Resemblance float64 `cbor:"7,keyasint,omitempty"` // of a near-duplicate: resemblance to Page
	Stored      bool    `cbor:"9,keyasint,omitempty"` // the URL's own Page is still stored, though a later visit ended in another State

	Rendering *Rendering `cbor:"10,keyasint,omitempty" json:",omitempty"` // of a page that is not kept; nil if its scripts did not run
}

// HasPage reports whether Page is the URL's own.
func (f Outcome) HasPage() bool { return f.State == "ok" || f.Stored }

// MetaRobots begins the Reason if the page itself, not robots.txt, denied a robots_denied URL.
const MetaRobots = "meta robots"

type Term struct {
	Name  string  `cbor:"1,keyasint" json:"name"`
	Value float64 `cbor:"2,keyasint" json:"value"`
	Note  string  `cbor:"3,keyasint,omitempty" json:"note,omitempty"`
}

// Page is the record of a stored page. Its body is another record.
type Page struct {
	Number      uint64  `cbor:"-"` // in crawl order, from 1
	ID          ID      `cbor:"1,keyasint"`
	URL         string  `cbor:"2,keyasint"`
	ContentType string  `cbor:"3,keyasint"`
	RobotsTag   string  `cbor:"4,keyasint,omitempty"`
	Checksum    []byte  `cbor:"5,keyasint"`
	Sketch      uint64  `cbor:"6,keyasint"`
	Title       string  `cbor:"7,keyasint"`
	Lang        string  `cbor:"8,keyasint,omitempty"`
	Links       []ID    `cbor:"9,keyasint,omitempty"` // known link targets, in page order
	Score       float64 `cbor:"10,keyasint"`          // R
	Terms       []Term  `cbor:"11,keyasint,omitempty"`
	Relevant    bool    `cbor:"12,keyasint,omitempty"`
	Label       string  `cbor:"13,keyasint,omitempty"`
	Probability float64 `cbor:"14,keyasint,omitempty"` // of Label
	Bytes       int64   `cbor:"15,keyasint"`           // of the body, decompressed
	At          int64   `cbor:"16,keyasint"`           // Unix milliseconds
	ETag        string  `cbor:"17,keyasint,omitempty"`
	Modified    string  `cbor:"18,keyasint,omitempty"` // as sent
	Depth       int     `cbor:"19,keyasint,omitempty"`
	Checked     int64   `cbor:"23,keyasint,omitempty"` // last time it was found unchanged, Unix milliseconds; 0 if never since At
	Parent      float64 `cbor:"20,keyasint,omitempty"` // score of the parent as given to the scorer
	Withdrawn   bool    `cbor:"24,keyasint,omitempty"` // its author has since asked not to have it stored; its content is deleted
	Signature   []byte  `cbor:"22,keyasint,omitempty"` // MinHash of the prose; none for a short page or one stored by an earlier build
	Account     []byte  `cbor:"25,keyasint,omitempty"` // further terms of Score, encoded by the scorer
	Rule        string  `cbor:"21,keyasint,omitempty"` // reason for Label: the rule that fired, or the words with the most weight

	Charset   string `cbor:"27,keyasint,omitempty" json:",omitempty"` // character set it was read in; "" if an earlier build stored it
	LinkKinds []int  `cbor:"28,keyasint,omitempty" json:",omitempty"` // number of link elements with repeats: frames, anchors, others (paper E, E6); none without links or Charset
	Unseen    int64  `cbor:"32,keyasint,omitempty" json:",omitempty"` // bytes, as UTF-8, that are neither text nor title, plus 1; 0 if an earlier build stored it

	Rights []string `cbor:"30,keyasint,omitempty" json:",omitempty"` // reservations of rights and where they stand, at the time of the fetch

	Topics []Verdict `cbor:"26,keyasint,omitempty" json:",omitempty"` // verdict of each topic that shares the crawl; the fields above are of the best

	Raw []byte `cbor:"33,keyasint,omitempty" json:",omitempty"` // checksum of the raw bytes; none if an earlier build stored the page, whose Checksum covers absolute link targets

	Versions int `cbor:"34,keyasint,omitempty" json:",omitempty"` // number of former bodies kept; see KeepVersion

	Rendering *Rendering `cbor:"40,keyasint,omitempty" json:",omitempty"` // what its scripts did; nil if they did not run

	Overruled bool `cbor:"42,keyasint,omitempty" json:",omitempty"` // Relevant is a mark's, against the scorer; in a crawl of several topics, see Topics

	SameAs string `cbor:"31,keyasint,omitempty" json:",omitempty"` // URL of the page that replaces this one; "" while this one is stored; see DuplicatesBatch.Drop
}

// Rendering is what a browser made of a page. If it succeeded, the page's content is the HTML
// that its scripts have left.
type Rendering struct {
	Failed   string `cbor:"1,keyasint,omitempty"` // why the page stays as it came
	Late     bool   `cbor:"2,keyasint,omitempty"` // the scripts were not ready in time
	Millis   int64  `cbor:"3,keyasint"`
	Requests int    `cbor:"4,keyasint,omitempty"` // of its scripts
	Words    int    `cbor:"5,keyasint,omitempty"` // before
	Links    int    `cbor:"6,keyasint,omitempty"`
	NowWords int    `cbor:"7,keyasint,omitempty"`
	NowLinks int    `cbor:"8,keyasint,omitempty"`

	Quote  *Quote `cbor:"9,keyasint,omitempty"`  // why it was rendered or not; nil if all pages are
	Turned bool   `cbor:"10,keyasint,omitempty"` // it is on topic only as rendered
	Won    int    `cbor:"11,keyasint,omitempty"` // links to URLs that were unknown, beside those of the page as it came
	Thin   bool   `cbor:"12,keyasint,omitempty"` // it had almost no text before
}

// Quote is what a rendering was expected to bring and to cost, and what was decided.
type Quote struct {
	Like     string  `cbor:"1,keyasint"` // URLs of this host and page.Pattern went before
	Chance   float64 `cbor:"2,keyasint"` // to be on topic
	Gain     float64 `cbor:"3,keyasint"` // pages on topic for each unit of chance
	Seconds  float64 `cbor:"4,keyasint"` // of one core
	Rate     float64 `cbor:"5,keyasint"` // pages on topic that the crawl finds in a second otherwise
	Declined bool    `cbor:"6,keyasint,omitempty"`
	Recheck  bool    `cbor:"7,keyasint,omitempty"` // rendered at random although it seemed too dear
}

// Worth reports whether a rendering should bring at least as many pages on topic as its
// seconds would bring otherwise.
func (q *Quote) Worth() bool { return q.Chance*q.Gain >= q.Seconds*q.Rate }

// String explains the decision.
func (q *Quote) String() string {
	is := "more"
	if !q.Worth() {
		is = "less"
	}
	text := fmt.Sprintf("a chance of %.3g to be on topic, times a gain of %.3g at URLs like %s, is %s than the %.3g pages on topic that %.2g seconds cost", q.Chance, q.Gain, q.Like, is, q.Seconds*q.Rate, q.Seconds)
	if q.Recheck {
		text += "; it was rendered at random to check the gain"
	}
	return text
}

// Yield sums what some pages were expected to bring, brought and cost. It fades, so that it
// follows a web that changes.
type Yield struct {
	Pages   float64 `cbor:"1,keyasint"`
	Chance  float64 `cbor:"2,keyasint,omitempty"` // of each page, to be on topic
	Worth   float64 `cbor:"3,keyasint,omitempty"` // pages on topic, or their equivalent in links
	Seconds float64 `cbor:"4,keyasint,omitempty"`
}

// String tells what a browser made of the page.
func (r *Rendering) String() string {
	if r.Quote != nil && r.Quote.Declined {
		return "not rendered: " + r.Quote.String()
	}
	took := time.Duration(r.Millis) * time.Millisecond
	if r.Failed != "" {
		return fmt.Sprintf("not rendered: %s, after %v (requests: %d)", r.Failed, took, r.Requests)
	}
	text := fmt.Sprintf("rendered in %v (requests: %d): %d words instead of %d, %d links instead of %d", took, r.Requests, r.NowWords, r.Words, r.NowLinks, r.Links)
	if r.Late {
		text += "; its scripts were not ready in time"
	}
	if r.Quote != nil {
		text += "; " + r.Quote.String()
	}
	return text
}

// Done reports whether the page was rendered.
func (r *Rendering) Done() bool {
	return r != nil && r.Failed == "" && (r.Quote == nil || !r.Quote.Declined)
}

func (p *Page) Sums() [][]byte {
	if len(p.Raw) == 0 {
		return [][]byte{p.Checksum}
	}
	return [][]byte{p.Checksum, p.Raw}
}

func (p *Page) Has(checksum []byte) bool {
	return slices.ContainsFunc(p.Sums(), func(sum []byte) bool { return bytes.Equal(sum, checksum) })
}

// Label is the judgement of a page by refine.
type Label struct {
	Label string  `cbor:"1,keyasint"`
	Score float64 `cbor:"2,keyasint"` // probability of the topic
	Kept  bool    `cbor:"3,keyasint"`
	Rule  string  `cbor:"4,keyasint"`
	Model string  `cbor:"5,keyasint"`
	Topic string  `cbor:"6,keyasint,omitempty" json:",omitempty"` // topic it was refined for, if several share the crawl; else ""
	Was   *Label  `cbor:"7,keyasint,omitempty" json:"-"`          // the model's own, if a mark overrides it
}

// Host is the state of a host: politeness, failures, counts and traps.
type Host struct {
	Name       string `cbor:"-"`
	New        bool   `cbor:"-"`
	Robots     []byte `cbor:"1,keyasint,omitempty"` // rules, encoded by the crawler
	RobotsAt   int64  `cbor:"2,keyasint,omitempty"` // Unix milliseconds; 0 when never fetched
	Next       int64  `cbor:"3,keyasint,omitempty"` // end of its politeness delay, Unix milliseconds
	Failures   int    `cbor:"4,keyasint,omitempty"` // consecutive failures
	Pages      uint64 `cbor:"5,keyasint,omitempty"`
	Requests   uint64 `cbor:"6,keyasint,omitempty"`
	Address    string `cbor:"7,keyasint,omitempty"` // address it answered from last, or was resolved to
	RobotsCode int    `cbor:"8,keyasint,omitempty"`

	RobotsETag     string `cbor:"24,keyasint,omitempty"`
	RobotsModified string `cbor:"25,keyasint,omitempty"`
	RobotsAgent    string `cbor:"26,keyasint,omitempty"` // product token whose rules were kept
	RobotsVersion  int    `cbor:"41,keyasint,omitempty"` // version of the rules' encoding

	TDM   []byte `cbor:"32,keyasint,omitempty" json:",omitempty"` // reservations in its tdmrep.json, encoded by the crawler
	TDMAt int64  `cbor:"33,keyasint,omitempty" json:",omitempty"` // when tdmrep.json was requested, Unix milliseconds; 0 if never

	Chances []byte `cbor:"36,keyasint,omitempty" json:",omitempty"` // success statistics of its visits, encoded by the crawler; nil while none failed

	Yields map[string]Yield `cbor:"38,keyasint,omitempty" json:",omitempty"` // of renderings, by class and pattern of URLs; see the crawler's yields.go
	Files  map[string]Files `cbor:"39,keyasint,omitempty" json:",omitempty"` // its documents by the ending of their URLs; nil while none came

	AddressSite string `cbor:"37,keyasint,omitempty" json:",omitempty"` // in a crawl with one site per address: the site that owns its address, its own or the one it is dropped for; "" while unknown

	Cuts map[string]string `cbor:"9,keyasint,omitempty"` // patterns of URLs, or whole hosts, recognised as traps, with the reason

	Silent      int    `cbor:"10,keyasint,omitempty"`                   // consecutive exchanges without an answer
	SilentSince int64  `cbor:"11,keyasint,omitempty"`                   // start of the first of these, Unix milliseconds
	Closed      string `cbor:"12,keyasint,omitempty"`                   // state that its URLs end in because it was silent too long; "" while it may answer
	ClosedUntil int64  `cbor:"13,keyasint,omitempty"`                   // when a newly found URL makes us ask again, Unix milliseconds
	Retries     uint64 `cbor:"14,keyasint,omitempty"`                   // requests for URLs that had failed before
	Promised    uint64 `cbor:"35,keyasint,omitempty" json:",omitempty"` // retries still due for waiting URLs
	News        bool   `cbor:"15,keyasint,omitempty"`                   // one of its pages differed from those of the site's other hosts

	RestFor    string `cbor:"27,keyasint,omitempty"` // reason for its present delay if longer than load alone requires: RestForRetryAfter and so on
	RestMillis int64  `cbor:"28,keyasint,omitempty"` // length of that delay, milliseconds
	Moved      int64  `cbor:"29,keyasint,omitempty"` // when its address last changed, Unix milliseconds

	Relevant uint64 `cbor:"30,keyasint,omitempty"`
	Start    bool   `cbor:"31,keyasint,omitempty"` // the user named one of its pages as a seed

	Announced *Announced `cbor:"34,keyasint,omitempty" json:",omitempty"` // state of its sitemaps and feeds, for a watch; nil while none was read

	Exchanges uint64    `cbor:"20,keyasint,omitempty"` // number of exchanges for no queued URL; see Exchange
	Sitemaps  *Sitemaps `cbor:"21,keyasint,omitempty"` // nil while nobody asked for them
}

// Reasons, other than load, for a delay that applies to this host but to no other at its address.
const (
	RestForRetryAfter = "Retry-After"
	RestForCrawlDelay = "Crawl-delay"
	RestForFailures   = "back-off" // several exchanges failed in a row
)

// Sitemaps is the progress of reading a host's sitemaps; it ends when none is pending.
type Sitemaps struct {
	Pending []SitemapFile `cbor:"1,keyasint,omitempty"` // to be fetched, in this order
	Known   []uint64      `cbor:"2,keyasint,omitempty"` // page.Key of all named files, while some are pending
	Files   int           `cbor:"3,keyasint,omitempty"`
	URLs    int           `cbor:"4,keyasint,omitempty"` // queued that were new
	Score   float64       `cbor:"5,keyasint,omitempty"` // of the URL that triggered the reading of the sitemaps
}

type SitemapFile struct {
	URL   string `cbor:"1,keyasint"`           // in normal form
	Depth int    `cbor:"2,keyasint,omitempty"` // depth in the tree of sitemap indexes
	Hops  int    `cbor:"3,keyasint,omitempty"` // consecutive redirects before it
	Tries int    `cbor:"4,keyasint,omitempty"`
}

func encode(v any) ([]byte, error) {
	b, err := cbor.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store record %T: %w", v, err)
	}
	return b, nil
}

var ErrDamaged = badgerfiles.ErrDamaged

// decoder accepts strings that are not valid UTF-8, because servers send such headers. A strict
// decoder would call the record damaged, and the crawl could not resume.
var decoder = sync.OnceValues(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid}.DecMode)

func decode(k, value []byte, v any) error {
	cbor, err := decoder()
	if err == nil {
		err = cbor.Unmarshal(value, v)
	}
	if err != nil {
		return fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
	}
	return nil
}

// The first byte of a key is the record's kind. Numbers are big-endian, so keys sort numerically.
const (
	keyInfo      = 'i' // → Info
	keyCount     = 'n' // → Counts
	keySeen      = 'k' // + URL hash (16) → ID (8) and a byte: live or skipped
	keyDiscovery = 'u' // + ID → Discovery, the URL's discovery
	keyQueued    = 'q' // + ID → Queued, while the URL waits
	keyVisit     = 'v' // + ID + number of the visit (2) → Visit
	keyWire      = 'w' // + ID + number of the visit (2) → headers of the exchange, packed
	keyHistory   = 't' // + ID + number of its first visit (2) → change.History: visits since the page was stored
	keyVersion   = 'V' // + ID + number, falling (2) → Version: an earlier body of the URL's page
	keyRounds    = 'g' // → []Round
	keyChances   = 'e' // → bytes: success statistics of visits
	keyOutcome   = 's' // + ID → Outcome, the URL's outcome, once it left the queue
	keyPage      = 'p' // + page number → Page
	keyBody      = 'b' // + page number → zstd of the body
	keyResource  = 'R' // + page number + number (2) → Resource: an exchange that a rendered page is made of
	keyContent   = 'c' // + checksum (16) → page number
	keyLabel     = 'l' // + page number → Label
	keyNear      = 'm' // + band (1) + its bytes of a signature (6) → page numbers, rising
	keyHost      = 'h' // + name:port → Host
	keyMark      = 'y' // + ID → Mark, of a crawl of one topic
	keyMarkFor   = 'z' // + ID + topic (1) → Mark, of one that several topics share
	keyRanking   = 'o' // → Ranking
	keyForget    = 'f' // + hash of the pattern (16) → Forget
	keyParcel    = 'a' // + part of the web (2) + number (8) → Parcel: messages to the agent that holds the part
	keyCursor    = 'd' // + part of the web (2) + sender → number of the last parcel received (8)
	keyHoldings  = 'j' // → Holdings
	keyHolder    = 'C' // + part of the web (2) + checksum (16) → URL of the page kept for this content
	keyAddress   = 'A' // + part of the web (2) + address → parts with sites there (2 each), then perhaps ffff and the site that owns it
	keyRank      = 'r' // + side, 0 or 1 (see Ranking) + page number → Rank

	keyExchange = 'x' // + name:port + a zero byte + its number (8) → Exchange
)

func key(kind byte) []byte { return []byte{kind} }

func numKey(kind byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, n)
}

func visitKey(id ID, visit int) []byte {
	return binary.BigEndian.AppendUint16(numKey(keyVisit, uint64(id)), uint16(visit))
}

func markKey(id ID, topic int) []byte {
	if topic == 0 {
		return numKey(keyMark, uint64(id))
	}
	return append(numKey(keyMarkFor, uint64(id)), byte(topic))
}

func markOf(k []byte) (id ID, topic int, err error) {
	if k[0] == keyMark {
		id, err = idOf(k)
		return id, 0, err
	}
	if len(k) != 10 || k[9] == 0 {
		return 0, 0, fmt.Errorf("store key %q: %w: want a URL and a topic", k, ErrDamaged)
	}
	id, err = idOf(k[:9])
	return id, int(k[9]), err
}

func bytesKey(kind byte, b []byte) []byte {
	return append([]byte{kind}, b...)
}

func numOf(k []byte) (uint64, error) {
	if len(k) != 9 {
		return 0, fmt.Errorf("store key %q: %w: %d bytes, want 9", k, ErrDamaged, len(k))
	}
	return binary.BigEndian.Uint64(k[1:]), nil
}

func idOf(k []byte) (ID, error) {
	n, err := numOf(k)
	return ID(n), err
}

// Hash is the first half of a URL's SHA-256, so that hostile sites cannot make URLs collide.
type Hash [16]byte

func HashURL(url string) Hash {
	var room [256]byte
	sum := sha256.Sum256(append(room[:0], url...))
	return Hash(sum[:16])
}

func seenValue(id ID, skipped bool) []byte {
	v := binary.BigEndian.AppendUint64(make([]byte, 0, 9), uint64(id))
	if skipped {
		return append(v, 1)
	}
	return append(v, 0)
}

// A Verdict is one topic's judgement of a page.
type Verdict struct {
	Score    float64 `cbor:"1,keyasint"`           // in [0,1]
	Expected float64 `cbor:"2,keyasint,omitempty"` // Score predicted when the page was requested
	Paid     float64 `cbor:"3,keyasint,omitempty"` // the topic's share of the page; all topics' shares add up to 1
	Relevant bool    `cbor:"4,keyasint,omitempty"`
	Rule     string  `cbor:"5,keyasint,omitempty"`

	Overruled bool `cbor:"6,keyasint,omitempty" json:",omitempty"` // Relevant is a mark's, against the scorer
}

// obey makes a verdict as a mark says, and reports whether that changed it. overruled is on while
// relevant is against the scorer.
func obey(relevant, overruled *bool, onTopic bool) (news bool) {
	if *relevant == onTopic {
		return false
	}
	*relevant, *overruled = onTopic, !*overruled
	return true
}

type TopicCounts struct {
	Relevant uint64  `cbor:"1,keyasint,omitempty"`
	Paid     float64 `cbor:"2,keyasint,omitempty"` // sum of the topic's shares in pages
}

func (c *Counts) Judged(verdicts []Verdict, away bool) {
	if n := len(verdicts); n > len(c.Topics) {
		c.Topics = append(c.Topics, make([]TopicCounts, n-len(c.Topics))...)
	}
	for i, v := range verdicts {
		t := &c.Topics[i]
		switch {
		case v.Relevant && away:
			t.Relevant--
		case v.Relevant:
			t.Relevant++
		}
		if away {
			t.Paid -= v.Paid
		} else {
			t.Paid += v.Paid
		}
	}
}

func sameTopics(a, b []TopicCounts) bool {
	return slices.EqualFunc(a, b, func(a, b TopicCounts) bool {
		return a.Relevant == b.Relevant && math.Abs(a.Paid-b.Paid) <= 1e-6*max(1, b.Paid)
	})
}

func byTopic(counts []TopicCounts) (text string) {
	for i, c := range counts {
		text += fmt.Sprintf(", topic %d: %d for %.2f", i+1, c.Relevant, c.Paid)
	}
	return text
}

// Plus adds the totals of another agent of the same crawl; Elapsed is the longer of the two.
func (c Counts) Plus(o Counts) Counts {
	c.URLs += o.URLs
	c.Pages += o.Pages
	c.Relevant += o.Relevant
	c.Requests += o.Requests
	c.Skipped += o.Skipped
	c.Bytes += o.Bytes
	c.Schemes += o.Schemes
	c.NearDuplicates += o.NearDuplicates
	c.Lost += o.Lost
	c.Dropped += o.Dropped
	c.Elapsed = max(c.Elapsed, o.Elapsed)
	c.States, c.Codes = addUp(c.States, o.States), addUp(c.Codes, o.Codes)
	topics := slices.Grow(slices.Clone(c.Topics), len(o.Topics))
	for i, n := range o.Topics {
		if i == len(topics) {
			topics = append(topics, TopicCounts{})
		}
		topics[i].Relevant += n.Relevant
		topics[i].Paid += n.Paid
	}
	c.Topics = topics
	return c
}

func addUp[K comparable](a, b map[K]uint64) map[K]uint64 {
	sum := map[K]uint64{}
	for _, counts := range []map[K]uint64{a, b} {
		for k, n := range counts {
			sum[k] += n
		}
	}
	return sum
}
