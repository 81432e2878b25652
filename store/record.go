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

// ID numbers URLs in the order of their discovery, from 1; 0 is none.
type ID uint64

type Via string

const (
	ViaSeed     Via = "seed"
	ViaLink     Via = "link"
	ViaRedirect Via = "redirect"
	ViaSitemap  Via = "sitemap"
	ViaAgent    Via = "agent" // another one told of it, which crawls its site
)

// Info is what a store says of itself. Settings is the crawl's own, so that a resumed crawl goes on
// as it began.
type Info struct {
	Format   int    `cbor:"1,keyasint"`
	Version  string `cbor:"2,keyasint"` // of the fossick that made it
	Created  int64  `cbor:"3,keyasint"` // Unix seconds
	Topic    string `cbor:"4,keyasint"`
	Settings []byte `cbor:"5,keyasint"` // JSON

	Topics []string `cbor:"6,keyasint,omitempty" json:",omitempty"` // that share the crawl; none of one topic alone

	Agent string `cbor:"7,keyasint,omitempty" json:",omitempty"` // its name in a cluster; "" of a crawl on one machine
}

// Counts are the running totals of a crawl, over all its resumptions.
type Counts struct {
	URLs     uint64            `cbor:"1,keyasint"` // discovered, so the last ID
	Pages    uint64            `cbor:"2,keyasint"` // stored; see LastPage
	Relevant uint64            `cbor:"3,keyasint"`
	Requests uint64            `cbor:"4,keyasint"`  // exchanges, robots.txt included
	States   map[string]uint64 `cbor:"5,keyasint"`  // URLs by final state
	Codes    map[int]uint64    `cbor:"6,keyasint"`  // non-200 answers to page requests by code
	Skipped  uint64            `cbor:"7,keyasint"`  // URLs seen and never queued
	Bytes    uint64            `cbor:"8,keyasint"`  // of bodies, decompressed
	Elapsed  time.Duration     `cbor:"9,keyasint"`  // crawling, over all sessions
	Schemes  uint64            `cbor:"10,keyasint"` // links of other schemes than http and https

	NearDuplicates uint64 `cbor:"11,keyasint,omitempty"` // of the duplicates, those whose content is not equal
	Lost           uint64 `cbor:"12,keyasint,omitempty"` // of URLs, those of which damage took the record

	Topics []TopicCounts `cbor:"13,keyasint,omitempty" json:",omitempty"` // of a crawl that several topics share, as Info.Topics has them

	Parcels uint64 `cbor:"14,keyasint,omitempty" json:",omitempty"` // put into the outbox so far, so the number of the last

	Dropped uint64 `cbor:"15,keyasint,omitempty" json:",omitempty"` // pages that were stored, and are not any more, since another agent has their content
}

func (c *Counts) LastPage() uint64 { return c.Pages + c.Dropped }

// Birth is how a URL was discovered.
type Birth struct {
	URL   string `cbor:"1,keyasint"`
	From  ID     `cbor:"2,keyasint,omitempty"` // the page or redirect that named it first
	Via   Via    `cbor:"3,keyasint"`
	Depth int    `cbor:"4,keyasint,omitempty"` // links from a start page
	Hops  int    `cbor:"5,keyasint,omitempty"` // redirects in a row that led here
	At    int64  `cbor:"6,keyasint"`           // Unix milliseconds

	// Of a URL that a sitemap named: the exchange that fetched it, by number and host (name:port).
	Exchange uint64 `cbor:"20,keyasint,omitempty"`
	AtHost   string `cbor:"21,keyasint,omitempty"`
	Modified int64  `cbor:"22,keyasint,omitempty"` // as the sitemap says, Unix seconds
}

// Queued is a URL's place in the frontier.
type Queued struct {
	Priority float64 `cbor:"1,keyasint"`
	Score    float64 `cbor:"2,keyasint"`           // R of its best parent; 1 for a seed
	Parent   ID      `cbor:"3,keyasint,omitempty"` // that parent
	Visits   int     `cbor:"4,keyasint,omitempty"` // exchanges made so far
	Excused  int     `cbor:"5,keyasint,omitempty"` // of these, what does not count: its host, or our network, was down, or its page was lost

	Also []float64 `cbor:"6,keyasint,omitempty" json:",omitempty"` // its priorities by the further orderings of a mix
}

// Visit is one exchange for a URL.
type Visit struct {
	Start    int64  `cbor:"1,keyasint"` // Unix milliseconds
	Millis   int64  `cbor:"2,keyasint"` // until the last byte
	State    string `cbor:"3,keyasint"`
	Code     int    `cbor:"4,keyasint,omitempty"`
	Location ID     `cbor:"5,keyasint,omitempty"` // where a redirect led
	Error    string `cbor:"6,keyasint,omitempty"`
	Bytes    int64  `cbor:"7,keyasint,omitempty"`

	Rest       int64 `cbor:"20,keyasint,omitempty"` // that the host was due afterwards, milliseconds
	RetryAfter int64 `cbor:"21,keyasint,omitempty"` // that the answer asked for, milliseconds
	Own        int64 `cbor:"23,keyasint,omitempty"` // of Rest, what binds the host alone and no other at its address

	Was []byte `cbor:"22,keyasint,omitempty"` // checksum of the stored content that this visit's replaced

	Change change.Kind `cbor:"25,keyasint,omitempty" json:",omitempty"` // that this visit found, where it asked for a stored page

	Modified int64 `cbor:"26,keyasint,omitempty" json:",omitempty"` // Last-Modified, as change.Visit has it

	Wait *Wait `cbor:"24,keyasint,omitempty" json:",omitempty"` // for better links, before it
}

// Wait is a wait for better links in which a URL was left, or waited for. Priorities are those of
// then.
type Wait struct {
	Since   int64   `cbor:"1,keyasint"` // Unix milliseconds
	Millis  int64   `cbor:"2,keyasint"`
	Refused bool    `cbor:"3,keyasint,omitempty"` // it was free and left; else it was waited for
	Price   float64 `cbor:"4,keyasint"`           // priority that a link needed to be taken
	Best    float64 `cbor:"5,keyasint"`           // of what was waited for
	Free    float64 `cbor:"6,keyasint"`           // of what was free
	Hosts   int     `cbor:"7,keyasint,omitempty"` // that had links worth the price, those at an address as one
}

// Fate is the outcome of a URL that waits no more.
type Fate struct {
	State  string  `cbor:"1,keyasint"`           // of cli.md; "none" when it was never requested
	Reason string  `cbor:"2,keyasint,omitempty"` // why, where the state alone does not say
	Page   uint64  `cbor:"3,keyasint,omitempty"` // number of the stored page, or of the one it repeats
	At     int64   `cbor:"4,keyasint"`
	Score  float64 `cbor:"5,keyasint,omitempty"` // that it had when it left the queue
	Parent ID      `cbor:"6,keyasint,omitempty"` // best parent at that time
	Next   int64   `cbor:"8,keyasint,omitempty"` // when a visit may bring news (paper E3), Unix milliseconds; 0 never, or unknown

	Resemblance float64 `cbor:"7,keyasint,omitempty"` // to Page, of a near-duplicate
	Stored      bool    `cbor:"9,keyasint,omitempty"` // Page is the URL's own, as it was before it came to State
}

// HasPage reports whether Page is the URL's own.
func (f Fate) HasPage() bool { return f.State == "ok" || f.Stored }

// MetaRobots begins the reason of a URL that its page denied (robots_denied); robots.txt denied
// others.
const MetaRobots = "meta robots"

type Term struct {
	Name  string  `cbor:"1,keyasint" json:"name"`
	Value float64 `cbor:"2,keyasint" json:"value"`
	Note  string  `cbor:"3,keyasint,omitempty" json:"note,omitempty"`
}

// Page is a stored page; its body is apart.
type Page struct {
	Number      uint64  `cbor:"-"` // in the order of the crawl, from 1
	ID          ID      `cbor:"1,keyasint"`
	URL         string  `cbor:"2,keyasint"`
	ContentType string  `cbor:"3,keyasint"`
	RobotsTag   string  `cbor:"4,keyasint,omitempty"`
	Checksum    []byte  `cbor:"5,keyasint"`
	Sketch      uint64  `cbor:"6,keyasint"`
	Title       string  `cbor:"7,keyasint"`
	Lang        string  `cbor:"8,keyasint,omitempty"`
	Links       []ID    `cbor:"9,keyasint,omitempty"` // targets that the crawl knows, in the page's order
	Score       float64 `cbor:"10,keyasint"`          // R
	Terms       []Term  `cbor:"11,keyasint,omitempty"`
	Relevant    bool    `cbor:"12,keyasint,omitempty"`
	Label       string  `cbor:"13,keyasint,omitempty"` // by the crawl's model
	Probability float64 `cbor:"14,keyasint,omitempty"` // of Label
	Bytes       int64   `cbor:"15,keyasint"`           // of the body, decompressed
	At          int64   `cbor:"16,keyasint"`           // Unix milliseconds
	ETag        string  `cbor:"17,keyasint,omitempty"`
	Modified    string  `cbor:"18,keyasint,omitempty"` // Last-Modified as sent
	Depth       int     `cbor:"19,keyasint,omitempty"`
	Checked     int64   `cbor:"23,keyasint,omitempty"` // when it was last seen to be as it is, Unix milliseconds; 0 since At
	Parent      float64 `cbor:"20,keyasint,omitempty"` // score of the parent, as the scorer was told
	Withdrawn   bool    `cbor:"24,keyasint,omitempty"` // its author asked by now that it be not kept: it has no content any more
	Signature   []byte  `cbor:"22,keyasint,omitempty"` // MinHash of the prose; none when it is short, or stored by an earlier build
	Account     []byte  `cbor:"25,keyasint,omitempty"` // further terms of Score, as the scorer keeps them
	Rule        string  `cbor:"21,keyasint,omitempty"` // why the crawl's model gave Label: the rule that fired, or the words that weighed most

	Charset   string `cbor:"27,keyasint,omitempty" json:",omitempty"` // by which it was read; none where an earlier build stored it
	LinkKinds []int  `cbor:"28,keyasint,omitempty" json:",omitempty"` // links as they stand on it, repeated ones too: frames, anchors, others (paper E, E6); none where it has none, or no Charset
	Unseen    int64  `cbor:"32,keyasint,omitempty" json:",omitempty"` // bytes, read as UTF-8, that are neither text nor title, plus 1; 0 where an earlier build stored it

	Rights []string `cbor:"30,keyasint,omitempty" json:",omitempty"` // what its owner says of its use, and where, when it was fetched

	Topics []Verdict `cbor:"26,keyasint,omitempty" json:",omitempty"` // of each topic that shares the crawl; what stands above is of the best

	Raw []byte `cbor:"33,keyasint,omitempty" json:",omitempty"` // checksum of the bytes; none where an earlier build stored the page, whose Checksum has absolute link targets

	Versions int `cbor:"34,keyasint,omitempty" json:",omitempty"` // former bodies that are kept; see KeepVersion

	SameAs string `cbor:"31,keyasint,omitempty" json:",omitempty"` // URL of the page that stands for it; "" as long as it is stored; see DuplicatesBatch.Drop
}

// Sums are the checksums by which a page with the same content is found.
func (p *Page) Sums() [][]byte {
	if len(p.Raw) == 0 {
		return [][]byte{p.Checksum}
	}
	return [][]byte{p.Checksum, p.Raw}
}

func (p *Page) Has(checksum []byte) bool {
	return slices.ContainsFunc(p.Sums(), func(sum []byte) bool { return bytes.Equal(sum, checksum) })
}

// Label is refine's judgement of a page.
type Label struct {
	Label string  `cbor:"1,keyasint"`
	Score float64 `cbor:"2,keyasint"` // probability of the topic
	Kept  bool    `cbor:"3,keyasint"`
	Rule  string  `cbor:"4,keyasint"` // that fired
	Model string  `cbor:"5,keyasint"`
	Topic string  `cbor:"6,keyasint,omitempty" json:",omitempty"` // whose pages it kept, of those that share the crawl; "" of one alone, and of another
}

// Host is what politeness has to remember of a host.
type Host struct {
	Name       string `cbor:"-"`
	New        bool   `cbor:"-"`                    // the store had no record of it
	Robots     []byte `cbor:"1,keyasint,omitempty"` // rules, as the crawler encodes them
	RobotsAt   int64  `cbor:"2,keyasint,omitempty"` // Unix milliseconds; 0 when never fetched
	Next       int64  `cbor:"3,keyasint,omitempty"` // end of its rest, Unix milliseconds
	Failures   int    `cbor:"4,keyasint,omitempty"` // exchanges in a row that failed
	Pages      uint64 `cbor:"5,keyasint,omitempty"` // stored
	Requests   uint64 `cbor:"6,keyasint,omitempty"`
	Address    string `cbor:"7,keyasint,omitempty"` // at which it answered last, or was found
	RobotsCode int    `cbor:"8,keyasint,omitempty"`

	RobotsETag     string `cbor:"24,keyasint,omitempty"` // version of the rules, as the server names it
	RobotsModified string `cbor:"25,keyasint,omitempty"` // Last-Modified, likewise
	RobotsAgent    string `cbor:"26,keyasint,omitempty"` // product token that the rules were narrowed to

	TDM   []byte `cbor:"32,keyasint,omitempty" json:",omitempty"` // what its tdmrep.json reserves, as the crawler encodes it
	TDMAt int64  `cbor:"33,keyasint,omitempty" json:",omitempty"` // when that was asked for, Unix milliseconds; 0 when never

	Chances []byte `cbor:"36,keyasint,omitempty" json:",omitempty"` // how often its visits succeed, as the crawler encodes it; nil where none failed

	AddressSite string `cbor:"37,keyasint,omitempty" json:",omitempty"` // the site that has its address, of a crawl with one site an address: its own, or the one in whose favour it is dropped; "" while that is not known

	Cuts map[string]string `cbor:"9,keyasint,omitempty"` // patterns of URLs that are traps, and of hosts, and why

	Silent      int    `cbor:"10,keyasint,omitempty"`                   // exchanges in a row without an answer
	SilentSince int64  `cbor:"11,keyasint,omitempty"`                   // begin of the first of these, Unix milliseconds
	Closed      string `cbor:"12,keyasint,omitempty"`                   // state in which its URLs end, for it was silent too long; "" while it may answer
	ClosedUntil int64  `cbor:"13,keyasint,omitempty"`                   // when it is asked again, if a URL of it turns up; Unix milliseconds
	Retries     uint64 `cbor:"14,keyasint,omitempty"`                   // of Requests, those for URLs that had failed
	Promised    uint64 `cbor:"35,keyasint,omitempty" json:",omitempty"` // retries that are to come, of URLs that wait
	News        bool   `cbor:"15,keyasint,omitempty"`                   // a page of it was unlike those of its site's other hosts

	RestFor    string `cbor:"27,keyasint,omitempty"` // what asked for its present rest, where that is longer than load alone makes it: see RestForRetryAfter
	RestMillis int64  `cbor:"28,keyasint,omitempty"` // and for how long
	Moved      int64  `cbor:"29,keyasint,omitempty"` // when it was found at another address than before, Unix milliseconds

	Relevant uint64 `cbor:"30,keyasint,omitempty"` // of Pages, those on topic
	Start    bool   `cbor:"31,keyasint,omitempty"` // the user named a page of it

	Announced *Announced `cbor:"34,keyasint,omitempty" json:",omitempty"` // by its sitemaps and feeds, to a watch; nil as long as none looked

	Exchanges uint64    `cbor:"20,keyasint,omitempty"` // on record that are for no URL of the queue; see Exchange
	Sitemaps  *Sitemaps `cbor:"21,keyasint,omitempty"` // nil as long as nobody asked for them
}

// What a host rests for, besides load, and nobody else at its address with it.
const (
	RestForRetryAfter = "Retry-After" // its answer said so
	RestForCrawlDelay = "Crawl-delay" // its robots.txt does
	RestForFailures   = "back-off"    // it failed some times in a row
)

// Sitemaps is the progress of reading a host's sitemaps; it ends when none is pending.
type Sitemaps struct {
	Pending []SitemapFile `cbor:"1,keyasint,omitempty"` // to be fetched, the first first
	Known   []uint64      `cbor:"2,keyasint,omitempty"` // page.Key of all that were named, while some are pending
	Files   int           `cbor:"3,keyasint,omitempty"` // asked for, redirects included
	URLs    int           `cbor:"4,keyasint,omitempty"` // entered that nothing had named before
	Score   float64       `cbor:"5,keyasint,omitempty"` // of the URL for whose sake the host was asked
}

type SitemapFile struct {
	URL   string `cbor:"1,keyasint"`           // in normal form
	Depth int    `cbor:"2,keyasint,omitempty"` // indexes above it
	Hops  int    `cbor:"3,keyasint,omitempty"` // redirects in a row that led here
	Tries int    `cbor:"4,keyasint,omitempty"` // that failed
}

func encode(v any) ([]byte, error) {
	b, err := cbor.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("store record %T: %w", v, err)
	}
	return b, nil
}

// ErrDamaged reports a record that cannot be read.
var ErrDamaged = badgerfiles.ErrDamaged

// decoder accepts strings that are not UTF-8: a header, sent back literally, need not be. To CBOR's
// rules such a record would be damaged, and its crawl could not resume.
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

// The first byte of a key is the record's kind. Numbers are big-endian, so that keys sort as numbers
// do.
const (
	keyInfo     = 'i' // → Info
	keyCount    = 'n' // → Counts
	keySeen     = 'k' // + URL hash (16) → ID (8) and a byte: live or skipped
	keyBirth    = 'u' // + ID → Birth
	keyQueued   = 'q' // + ID → Queued; there while the URL waits
	keyVisit    = 'v' // + ID + number of the visit (2) → Visit
	keyWire     = 'w' // + ID + number of the visit (2) → headers of the exchange, packed
	keyHistory  = 't' // + ID + number of its first visit (2) → change.History: visits since the page was stored
	keyVersion  = 'V' // + ID + number, falling (2) → Version: an earlier body of the URL's page
	keyRounds   = 'g' // → []Round
	keyChances  = 'e' // → bytes: what was learned of whether visits succeed
	keyFate     = 's' // + ID → Fate; there when it waits no more
	keyPage     = 'p' // + page number → Page
	keyBody     = 'b' // + page number → zstd of the body
	keyContent  = 'c' // + checksum (16) → page number
	keyLabel    = 'l' // + page number → Label
	keyNear     = 'm' // + band (1) + its bytes of a signature (6) → page numbers, rising
	keyHost     = 'h' // + name:port → Host
	keyMark     = 'y' // + ID → Mark, of a crawl of one topic
	keyMarkFor  = 'z' // + ID + topic (1) → Mark, of one that several topics share
	keyRanking  = 'o' // → Ranking
	keyForget   = 'f' // + hash of the pattern (16) → Forget
	keyParcel   = 'a' // + part of the web (2) + number (8) → a message to the agent that has it
	keyCursor   = 'd' // + part of the web (2) + sender → number of its last parcel taken in (8)
	keyHoldings = 'j' // → Holdings
	keyHolder   = 'C' // + part of the web (2) + checksum (16) → URL of the page that stands for the content
	keyAddress  = 'A' // + part of the web (2) + address → parts with sites there (2 each), and perhaps ffff and the site that has it
	keyRank     = 'r' // + 0 or 1, as Ranking says which holds + page number → Rank

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

// Hash names a URL in the seen-set: the first half of its SHA-256, so that a hostile site cannot
// make two URLs collide.
type Hash [16]byte

// HashURL returns the hash of a URL in normal form.
func HashURL(url string) Hash {
	var room [256]byte // so that a link costs no allocation
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

// A Verdict is the judgement of a page by one of a crawl's topics.
type Verdict struct {
	Score    float64 `cbor:"1,keyasint"`           // the page's, in [0,1]
	Expected float64 `cbor:"2,keyasint,omitempty"` // that it would be, when it was asked for
	Paid     float64 `cbor:"3,keyasint,omitempty"` // the topic's share of the page; those of all topics add up to 1
	Relevant bool    `cbor:"4,keyasint,omitempty"`
	Rule     string  `cbor:"5,keyasint,omitempty"` // why, where it is relevant
}

type TopicCounts struct {
	Relevant uint64  `cbor:"1,keyasint,omitempty"`
	Paid     float64 `cbor:"2,keyasint,omitempty"` // pages, the shares of them added up
}

// Judged adds a page to the counts of the topics, or takes one away that was added.
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

// sameTopics compares counts by topic, but for the rounding of shares.
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

// Plus adds the totals of another agent of the same crawl; the longest time counts.
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
