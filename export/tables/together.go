package tables

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fossick/export"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/wire"
)

// Peers carries messages between agents by number. Messages arrive once and in order, unless sender or
// receiver dies. A restarted agent receives nothing sent before its first new message was received.
type Peers interface {
	// Send sends a message without waiting for its receipt.
	Send(ctx context.Context, to int, message []byte) error
	// Receive waits for the next message and returns it with its sender.
	Receive(ctx context.Context) (from int, message []byte, err error)
}

// Group is an agent's place among the agents that convert together.
type Group struct {
	Me, Agents int    // this agent's number, and the number of agents
	Name       string // of this agent
	Peers      Peers
}

// Together converts the stores of several agents, each of which calls it with its own store. The agent with a Dir
// collects the parts of all and makes the same folder as Run. The others keep their parts beside their stores
// until all is done, so a restarted agent resumes. All return the same result.
func Together(ctx context.Context, opt Options, g Group) (_ *Result, err error) {
	collects := opt.Dir != ""
	opt.complete()
	pages, print, err := opened(ctx, opt.Stores[0], "this agent's store", &opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	c := &company{Group: g, opt: &opt, pages: pages, agents: make([]*message, g.Agents),
		me: message{Kind: hello, Name: g.Name, Print: print, Collects: collects}}
	if collects {
		there, err := readManifest(opt.Dir)
		if err != nil {
			return nil, err
		}
		c.me.Whole = there != nil && there.Done
	}
	at, err := c.meet(ctx)
	if err != nil {
		return nil, err
	}
	if at != g.Me {
		return (&contributor{company: c, to: at}).contribute(ctx)
	}
	return (&collector{company: c, from: make([]incoming, g.Agents)}).collect(ctx)
}

type company struct {
	Group
	opt    *Options
	pages  *export.Collection // of its own store
	me     message            // its own hello
	agents []*message         // latest hello by agent number
	early  []received         // messages received before all agents were known
}

type received struct {
	from int
	message
}

// meet waits for a hello of every agent, and returns the collector's number.
func (c *company) meet(ctx context.Context) (collects int, err error) {
	c.agents[c.Me] = &c.me
	for to := range c.Agents {
		if to != c.Me {
			if err := c.send(ctx, to, c.me); err != nil {
				return 0, err
			}
		}
	}
	var early []received
	for missing := c.Agents - 1; missing > 0; {
		from, m, err := c.receive(ctx)
		if err != nil {
			return 0, err
		}
		if m.Kind != hello {
			early = append(early, received{from, m})
			continue
		}
		missing = 0
		for _, a := range c.agents {
			if a == nil {
				missing++
			}
		}
	}
	c.early = early
	return c.collectorOf()
}

func (c *company) collectorOf() (number int, err error) {
	var names []string
	for i, a := range c.agents {
		if a.Collects {
			names, number = append(names, a.Name), i
		}
	}
	switch len(names) {
	case 1:
		return number, nil
	case 0:
		return 0, errors.New("no agent has -o; give -o DIR to one of them")
	}
	return 0, fmt.Errorf("agents %s all have -o; give -o DIR to one of them only", cli.SomeNames("", names))
}

func (c *company) send(ctx context.Context, to int, m message) error {
	return c.Peers.Send(ctx, to, m.encode())
}

func (c *company) receive(ctx context.Context) (from int, m message, err error) {
	if len(c.early) > 0 {
		l := c.early[0]
		c.early = c.early[1:]
		return l.from, l.message, nil
	}
	from, b, err := c.Peers.Receive(ctx)
	if err != nil {
		return from, m, err
	}
	if m, err = decodeMessage(b); err == nil && (from < 0 || from >= c.Agents || from == c.Me) {
		err = fmt.Errorf("%w: from agent %d of %d", errMessage, from, c.Agents)
	}
	if err != nil || m.Kind != hello {
		return from, m, err
	}
	if was := c.agents[from]; was != nil && (was.Name != m.Name || was.Print != m.Print || was.Collects != m.Collects) {
		return from, m, fmt.Errorf("agent %s came back with another or a changed store, or another -o; start the command again on all agents", m.Name)
	}
	c.agents[from] = &m
	return from, m, nil
}

type contributor struct {
	*company
	to int // number of the collector
	m  *manifest
}

// contribute makes the agent's part beside its store, and sends it.
func (g *contributor) contribute(ctx context.Context) (_ *Result, err error) {
	store, err := filepath.Abs(g.opt.Stores[0])
	if err != nil {
		return nil, err
	}
	kept, err := export.Keep(store+".part", "convert")
	if err != nil {
		return nil, fmt.Errorf("this agent's part waits beside its store: %w", err)
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	if !g.agents[g.to].Whole {
		if err := g.make(ctx, kept.Dir()); err != nil {
			return nil, err
		}
		if err := g.send(ctx, g.to, message{Kind: offer, Store: &g.m.Stores[0], Files: g.m.Files}); err != nil {
			return nil, err
		}
	}
	r, err := g.serve(ctx)
	if err != nil {
		return nil, err
	}
	return r, kept.Discard()
}

func (g *contributor) make(ctx context.Context, dir string) (err error) {
	g.m, err = g.opt.resume(ctx, dir, g.Name)
	if err == nil {
		err = g.m.admit(0, g.me.Print)
	}
	if errors.Is(err, errChanged) || errors.Is(err, errDamaged) {
		g.m = g.opt.fresh(g.Name)
		g.m.dir = dir
		err = errors.Join(g.m.sweep(), os.RemoveAll(filepath.Join(dir, manifestFile)), g.m.admit(0, g.me.Print))
	}
	if err != nil {
		return err
	}
	if err := g.m.clear(); err != nil {
		return err
	}
	return (&agent{m: g.m, opt: g.opt, pages: g.pages}).do(ctx)
}

// serve answers the collector until all is done.
func (g *contributor) serve(ctx context.Context) (*Result, error) {
	g.opt.Step("sending this agent's part to agent "+g.agents[g.to].Name, 0)
	for {
		from, m, err := g.receive(ctx)
		if err != nil {
			return nil, err
		}
		switch {
		case m.Kind == want && from == g.to && g.m != nil:
			err = g.answer(ctx, m)
		case m.Kind == done && from == g.to:
			return m.Result, nil
		case m.Kind != hello:
			err = fmt.Errorf("%w: %d by agent %s", errMessage, m.Kind, g.agents[from].Name)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (g *contributor) answer(ctx context.Context, m message) error {
	if m.File >= len(g.m.Files) || m.From >= g.m.Files[m.File].Bytes {
		return fmt.Errorf("%w: byte %d of file %d", errMessage, m.From, m.File)
	}
	file := g.m.Files[m.File]
	f, err := fileio.Open(filepath.Join(g.m.dir, filepath.FromSlash(file.Name)))
	if err != nil {
		return err
	}
	m.Kind, m.Bytes = piece, make([]byte, min(int64(g.opt.limits.piece), file.Bytes-m.From))
	_, err = io.ReadFull(io.NewSectionReader(f, m.From, file.Bytes), m.Bytes)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	g.opt.Did(1)
	return g.send(ctx, g.to, m)
}

type collector struct {
	*company
	m    *manifest
	from []incoming // by agent number
}

type incoming struct {
	files []part // of its offer, under their local names
	at    int    // index in files of the file being received
	asked int64  // bytes of it requested
	got   int64
	to    *output // nil between files
	sum   hash.Hash
	all   bool
}

// ahead is how many pieces of an agent may be in flight.
const ahead = 8

// collect makes the folder, and sends the result to all.
func (c *collector) collect(ctx context.Context) (*Result, error) {
	var names []string
	for _, a := range c.agents {
		names = append(names, a.Name)
	}
	parts := func(m *manifest) error {
		c.m = m
		for i, a := range c.agents {
			if err := m.admit(i, a.Print); err != nil {
				return err
			}
		}
		if m.Done {
			return nil
		}
		if err := (&agent{m: m, store: c.Me, opt: c.opt, pages: c.pages}).do(ctx); err != nil {
			return err
		}
		if err := c.gather(ctx); err != nil {
			return errors.Join(err, c.abandon())
		}
		return nil
	}
	r, err := c.opt.convert(ctx, names, parts, func(do func(context.Context) error) error { return c.whileAnswering(ctx, do) })
	if err != nil {
		return nil, err
	}
	r.At = c.Name
	for to := range c.Agents {
		if to != c.Me {
			if err := c.send(ctx, to, message{Kind: done, Result: r}); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (c *collector) whileAnswering(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- do(ctx)
		stop()
	}()
	for {
		_, _, err := c.receive(ctx)
		if err == nil {
			continue
		}
		stop()
		if did := <-ended; errors.Is(err, context.Canceled) {
			return did
		}
		return err
	}
}

func (c *collector) gather(ctx context.Context) error {
	c.opt.Step("receiving the parts of the other agents", 0)
	c.from[c.Me].all = true
	for slices.ContainsFunc(c.from, func(g incoming) bool { return !g.all }) {
		from, m, err := c.receive(ctx)
		if err != nil {
			return err
		}
		switch g := &c.from[from]; {
		case m.Kind == offer:
			err = c.begin(ctx, from, m)
		case m.Kind == piece && g.to != nil && m.File == g.at && m.From == g.got:
			err = c.add(ctx, from, m.Bytes)
		case m.Kind != hello:
			err = fmt.Errorf("%w: kind %d", errMessage, m.Kind)
		}
		if err != nil {
			return fmt.Errorf("agent %s: %w", c.agents[from].Name, err)
		}
	}
	return nil
}

func (c *collector) begin(ctx context.Context, from int, m message) error {
	g := &c.from[from]
	if err := g.abandon(); err != nil || g.all {
		return err
	}
	if m.Store.Fingerprint != c.m.Stores[from].Fingerprint {
		return c.m.changed("an earlier state of the store " + m.Store.Name + ", which has changed since")
	}
	files, err := under(storeFolder(from), m.Files)
	if err != nil {
		return err
	}
	*g = incoming{files: files}
	s := &c.m.Stores[from]
	s.Withdrawn, s.Refused, s.Damaged = m.Store.Withdrawn, m.Store.Refused, m.Store.Damaged
	return c.next(ctx, from)
}

func under(folder string, files []part) (named []part, err error) {
	if len(files) < 2 {
		return nil, fmt.Errorf("%w: %d files", errMessage, len(files))
	}
	last := uint64(0)
	for i, f := range files {
		want, chunk := chunkName(i), i < len(files)-2
		switch {
		case i == len(files)-2:
			want = "links"
		case i == len(files)-1:
			want = "aliases"
		}
		if f.Name != storeFolder(0)+want || chunk != (f.Last > last) || !chunk && f.Last != 0 {
			return nil, fmt.Errorf("%w: file %q, to page %d", errMessage, f.Name, f.Last)
		}
		if chunk {
			last = f.Last
		}
		f.Name = folder + want
		named = append(named, f)
	}
	return named, nil
}

func (c *collector) next(ctx context.Context, from int) (err error) {
	g := &c.from[from]
	for ; g.at < len(g.files); g.at++ {
		f := g.files[g.at]
		if at := slices.IndexFunc(c.m.Files, func(p part) bool { return p.Name == f.Name }); at >= 0 {
			if c.m.Files[at] != f {
				return fmt.Errorf("%s %w; remove %s to start over", strings.TrimPrefix(f.Name, partsFolder), errDamaged, c.m.dir)
			}
			continue
		}
		if g.to, err = c.m.create(f.Name); err != nil {
			return err
		}
		g.sum, g.got, g.asked = sha256.New(), 0, 0
		if f.Bytes > 0 {
			return c.ask(ctx, from)
		}
		if err := c.end(from); err != nil {
			return err
		}
	}
	g.all = true
	c.m.Stores[from].Read, c.m.Stores[from].Linked = true, true
	return c.m.save()
}

func (c *collector) ask(ctx context.Context, from int) error {
	g, size := &c.from[from], int64(c.opt.limits.piece)
	for g.asked < g.files[g.at].Bytes && g.asked < g.got+ahead*size {
		if err := c.send(ctx, from, message{Kind: want, File: g.at, From: g.asked}); err != nil {
			return err
		}
		g.asked += size
	}
	return nil
}

func (c *collector) add(ctx context.Context, from int, b []byte) error {
	g := &c.from[from]
	if _, err := g.to.Write(b); err != nil {
		return err
	}
	_, _ = g.sum.Write(b) // a hash never fails
	c.opt.Did(1)
	if g.got += int64(len(b)); g.got < g.files[g.at].Bytes {
		return c.ask(ctx, from)
	}
	if err := c.end(from); err != nil {
		return err
	}
	g.at++
	return c.next(ctx, from)
}

func (c *collector) end(from int) error {
	g := &c.from[from]
	f, to := g.files[g.at], g.to
	g.to = nil
	if err := to.Close(); err != nil {
		return err
	}
	if g.got != f.Bytes || hex.EncodeToString(g.sum.Sum(nil)) != f.SHA256 {
		return fmt.Errorf("%s %w; start the command again on all agents", f.Name, errDamaged)
	}
	c.m.Files = append(c.m.Files, f)
	return c.m.save()
}

func (g *incoming) abandon() error {
	to := g.to
	if g.to = nil; to == nil {
		return nil
	}
	return to.File.Close()
}

func (c *collector) abandon() (err error) {
	for i := range c.from {
		err = errors.Join(err, c.from[i].abandon())
	}
	return err
}

type kind uint8

const (
	hello kind = 1 + iota // to all: name, and whether the sender collects
	offer                 // to the collector: finished files of a store
	want                  // from the collector: request for a piece
	piece                 // the answer to want
	done                  // from the collector: the result
)

// message is a message between agents that convert together; fields unused by its kind are empty.
type message struct {
	Kind kind `cbor:"1,keyasint"`

	// For hello.
	Name     string `cbor:"2,keyasint,omitempty"`
	Print    string `cbor:"3,keyasint,omitempty"` // fingerprint of the store
	Collects bool   `cbor:"4,keyasint,omitempty"`
	Whole    bool   `cbor:"5,keyasint,omitempty"` // the output folder is complete already

	Store *input `cbor:"7,keyasint,omitempty"`               // for offer
	Files []part `cbor:"8,keyasint,omitempty" most:"262144"` // for offer, in order

	// For want and piece.
	File  int    `cbor:"9,keyasint,omitempty"`                // index in Files
	From  int64  `cbor:"10,keyasint,omitempty"`               // offset
	Bytes []byte `cbor:"11,keyasint,omitempty" most:"524288"` // for piece

	Result *Result `cbor:"12,keyasint,omitempty"` // for done
}

var errMessage = errors.New("an unexpected message between agents that convert together; run the same version of fossick on all of them")

// pieceBytes is the largest piece of a file in a message.
const pieceBytes = 512 << 10

// The largest messages are a piece, and a list of files with one chunk per 20,000 pages.
var messages = wire.NewDecoder(1<<18, 8)

func (m message) encode() []byte { return wire.Encode(m) }

func decodeMessage(b []byte) (m message, err error) {
	if err := messages.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errMessage, err)
	}
	complete := true
	switch m.Kind {
	case hello:
		complete = m.Name != "" && m.Print != ""
	case offer:
		complete = m.Store != nil && len(m.Files) > 0
	case want, piece:
		complete = m.File >= 0 && m.From >= 0 && (len(m.Bytes) > 0) == (m.Kind == piece)
	case done:
		complete = m.Result != nil
	default:
		complete = false
	}
	for _, f := range m.Files {
		complete = complete && f.Bytes >= 0
	}
	if !complete {
		return m, fmt.Errorf("%w: kind %d", errMessage, m.Kind)
	}
	return m, nil
}
