package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"fossick/crawler/cluster"
)

// bucket is the table of a crawl's values, a NATS key-value bucket. A revision is a message's
// sequence number. Safe for concurrent use.
type bucket struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	crawl    string
	replicas int // 0: 3, or 1 for a server without a cluster
	log      *slog.Logger

	mu    sync.Mutex // guards the rest
	short time.Time  // since when a server is missing for the third copy; zero: none has been
	grown time.Time  // when the third copy was last requested; zero: not needed
}

// If one of three machines does not come, the crawl starts with two copies after awaitThird, and
// asks for the third every growEvery.
const (
	awaitThird = 5 * time.Second
	growEvery  = 10 * time.Second
)

// mark is a key for the bucket itself; no key of a crawl can have this name.
const mark = "_read"

// Time limits of an attempt. A write takes some 10 ms; a server that died never answers.
const (
	leastAttempt = 250 * time.Millisecond
	mostAttempt  = 2 * time.Second
)

const bucketBytes = 64 << 20

func (b *bucket) stream() string            { return "KV_" + b.crawl }
func (b *bucket) subject(key string) string { return "$KV." + b.crawl + "." + key }

type entry struct {
	cluster.Value
	writer string // identifies the call of swap
}

// Values implements cluster.Exchange. It needs answers from most of the servers.
func (b *Bus) Values(ctx context.Context, keys ...string) (map[string]cluster.Value, error) {
	ctx, done := b.until(ctx)
	defer done()
	entries, err := b.values.read(ctx, keys...)
	if err != nil {
		return nil, err
	}
	b.values.grow(ctx)
	all := make(map[string]cluster.Value, len(entries))
	for key, e := range entries {
		all[key] = e.Value
	}
	return all, nil
}

// read returns the current entries of the given keys, or of all. A server may be behind without
// knowing it. So read first writes a mark, which needs most of the servers, and requires an
// answer with it.
func (b *bucket) read(ctx context.Context, keys ...string) (map[string]entry, error) {
	subjects := []string{b.subject(">")}
	if len(keys) > 0 {
		subjects = []string{b.subject(mark)}
		for _, key := range keys {
			subjects = append(subjects, b.subject(key))
		}
	}
	var at uint64
	err := b.insist(ctx, func(ctx context.Context) (err error) {
		at, err = b.publish(ctx, &nats.Msg{Subject: b.subject(mark)})
		return err
	})
	if err != nil {
		return nil, err
	}
	var all map[string]entry
	err = b.insist(ctx, func(ctx context.Context) error {
		found, err := b.fetch(ctx, subjects)
		if err == nil && found[mark].Revision < at {
			err = errBehind
		}
		delete(found, mark)
		all = found
		return err
	})
	return all, err
}

// errBehind reports a server without a write that another server has confirmed.
var errBehind = errors.New("the server is behind")

// insist repeats do until it succeeds, fails for good or ctx ends. It replaces a lost bucket by
// an empty one.
func (b *bucket) insist(ctx context.Context, do func(context.Context) error) error {
	patience := leastAttempt
	for n := 0; ; n++ {
		err := within(ctx, patience, do)
		switch {
		case errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, nats.ErrNoResponders):
			err = errors.Join(err, within(ctx, 2*leastAttempt, b.create))
		case errors.Is(err, context.DeadlineExceeded):
			patience = min(mostAttempt, 2*patience)
		}
		switch {
		case err == nil || forGood(err):
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("exchange: %w (%v)", context.Cause(ctx), err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("exchange: %w (%v)", context.Cause(ctx), err)
		case <-time.After(min(pause(n), leastAttempt)):
		}
	}
}

func within(ctx context.Context, d time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return do(ctx)
}

// forGood reports whether a repeated call would fail again.
func forGood(err error) bool {
	return errors.Is(err, cluster.ErrRevision) || errors.Is(err, cluster.ErrFull) || errors.Is(err, nats.ErrMaxPayload) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}

// create makes the bucket unless it exists. Sequence numbers begin at the time in microseconds,
// so that revisions of a lost bucket are invalid here.
func (b *bucket) create(ctx context.Context) error {
	_, err := b.js.Stream(ctx, b.stream())
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	config := jetstream.StreamConfig{
		Name: b.stream(), Subjects: []string{b.subject(">")}, Storage: jetstream.FileStorage,
		Replicas: b.replicas, MaxMsgsPerSubject: 1, MaxMsgs: cluster.MostKeys + 1, MaxBytes: bucketBytes, Discard: jetstream.DiscardNew,
		AllowDirect: true, AllowRollup: true, DenyDelete: true, // as in NATS key-value buckets
		Duplicates: 100 * time.Millisecond, // the minimum; no message has an ID
		FirstSeq:   uint64(time.Now().UnixMicro()),
	}
	if b.replicas == 0 {
		config.Replicas = 3
	}
	_, err = b.js.CreateStream(ctx, config)
	if b.missed(err, config.Replicas) {
		config.Replicas = 2
		if _, err = b.js.CreateStream(ctx, config); err == nil {
			b.log.Warn("the exchange starts with two machines; both must stay up until another one joins")
		}
	}
	if alone := new(jetstream.APIError); b.replicas == 0 && errors.As(err, &alone) && alone.ErrorCode == notClustered {
		config.Replicas = 1
		_, err = b.js.CreateStream(ctx, config)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil // another agent was faster
	}
	return err
}

// missed reports whether the server for the third copy has been missing too long.
func (b *bucket) missed(err error, replicas int) bool {
	api := new(jetstream.APIError)
	if replicas < 3 || !errors.As(err, &api) || api.ErrorCode != noPeers {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.short.IsZero() {
		b.short = time.Now()
		b.log.Warn("a machine of the cluster has not joined; the exchange starts without it in a few seconds")
	}
	return time.Since(b.short) > awaitThird
}

// grow now and then asks for the third copy, while there are two.
func (b *bucket) grow(ctx context.Context) {
	b.mu.Lock()
	due := !b.grown.IsZero() && time.Since(b.grown) > growEvery
	if due {
		b.grown = time.Now()
	}
	b.mu.Unlock()
	if !due {
		return
	}
	_ = within(ctx, mostAttempt, func(ctx context.Context) error { // it fails while the third server is missing
		s, err := b.js.Stream(ctx, b.stream())
		if err != nil {
			return err
		}
		config := s.CachedInfo().Config
		if config.Replicas == 2 {
			config.Replicas = 3
			_, err = b.js.UpdateStream(ctx, config)
		}
		if err == nil {
			b.mu.Lock()
			b.grown = time.Time{}
			b.mu.Unlock()
		}
		return err
	})
}

// Error codes of the server that the library does not name.
const (
	noPeers        jetstream.ErrorCode = 10005
	notClustered   jetstream.ErrorCode = 10074
	tooManyInTable jetstream.ErrorCode = 10077
)

func (b *bucket) fetch(ctx context.Context, subjects []string) (map[string]entry, error) {
	all := map[string]entry{}
	for from := uint64(1); from > 0; {
		var err error
		if from, err = b.fetchPage(ctx, subjects, from, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fetchPage adds entries from a number on, and returns where to continue, or 0.
func (b *bucket) fetchPage(ctx context.Context, subjects []string, from uint64, all map[string]entry) (next uint64, err error) {
	inbox := b.conn.NewInbox()
	answers, err := b.conn.SubscribeSync(inbox)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, answers.Unsubscribe()) }()
	ask, err := json.Marshal(map[string]any{"multi_last": subjects, "seq": from})
	if err != nil {
		return 0, err
	}
	if err := b.conn.PublishRequest("$JS.API.DIRECT.GET."+b.stream(), inbox, ask); err != nil {
		return 0, err
	}
	last := from
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return 0, err
		}
		switch status := m.Header.Get("Status"); status {
		case "":
		case "204": // the end, with the number of entries left
			if left := m.Header.Get(jetstreamPending); left != "" && left != "0" {
				return last + 1, nil
			}
			return 0, nil
		case "404":
			return 0, nil
		case strconv.Itoa(http.StatusServiceUnavailable):
			return 0, nats.ErrNoResponders
		default:
			return 0, fmt.Errorf("values: the server answers %s %s", status, m.Header.Get("Description"))
		}
		revision, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
		key, ok := strings.CutPrefix(m.Header.Get(jetstream.SubjectHeader), b.subject(""))
		if err != nil || !ok {
			return 0, fmt.Errorf("values: no key or revision in %v", m.Header)
		}
		last = revision
		all[key] = entry{cluster.Value{Bytes: m.Data, Revision: revision}, m.Header.Get(writerHeader)}
	}
}

const jetstreamPending = "Nats-Num-Pending"

// writerHeader identifies the call of Swap that wrote a value.
const writerHeader = "Fossick-Swap"

// Swap implements cluster.Exchange. It retries until ctx ends, but writes at most once. After an
// error other than ErrRevision the value may have been written.
func (b *Bus) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := cluster.CheckKey(key, value); err != nil {
		return 0, err
	}
	ctx, done := b.until(ctx)
	defer done()
	return b.values.swap(ctx, key, value, revision)
}

func (b *bucket) swap(ctx context.Context, key string, value []byte, revision uint64) (written uint64, err error) {
	writer := nuid.Next()
	unsure := false // an attempt without an answer may have written
	err = b.insist(ctx, func(one context.Context) (err error) {
		m := &nats.Msg{Subject: b.subject(key), Data: value, Header: nats.Header{}}
		m.Header.Set(writerHeader, writer)
		m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(revision, 10))
		written, err = b.publish(one, m)
		unsure = unsure || err != nil && !forGood(err)
		return err
	})
	if unsure && errors.Is(err, cluster.ErrRevision) {
		return b.ownWrite(ctx, key, writer)
	}
	if err != nil {
		return 0, fmt.Errorf("key %s: %w", key, err)
	}
	return written, nil
}

// ownWrite returns the key's revision if this call wrote it, and otherwise ErrRevision.
func (b *bucket) ownWrite(ctx context.Context, key, writer string) (uint64, error) {
	all, err := b.read(ctx, key)
	if err == nil && all[key].writer != writer {
		err = cluster.ErrRevision
	}
	if err != nil {
		return 0, fmt.Errorf("key %s: %w", key, err)
	}
	return all[key].Revision, nil
}

// publish writes a message, and returns its number once most of the servers have it.
func (b *bucket) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	ack, err := b.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return ack.Sequence, nil
	case !errors.As(err, &refused):
		return 0, err
	case refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return 0, cluster.ErrRevision
	case refused.ErrorCode == tooManyInTable:
		return 0, fmt.Errorf("%w: %d (%v)", cluster.ErrFull, cluster.MostKeys, err)
	}
	return 0, err
}
