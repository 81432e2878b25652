package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"fossick/crawler/cluster"
)

// Options name an agent's exchange. Crawl, Agent, and one of Server and URL are required.
type Options struct {
	Crawl   string
	Agent   cluster.AgentID
	Server  *Server      // in this process
	URL     string       // nats://host:port of existing servers, separated by commas
	Secrets *Secrets     // what the servers ask for; nil: those of Server, or localSecrets
	Log     *slog.Logger // nil: silent

	replicas int // for tests: copies of the values; 0: one for each server, at most 3
}

var (
	errCrawl   = errors.New("not a crawl's name: want up to 64 letters, digits, hyphens and underscores")
	errURL     = errors.New("not the address of an exchange; want nats://HOST:PORT, without a password, which --keys brings")
	errRefused = errors.New("the exchange refuses this agent; give it by --keys the folder that fossick cluster init made for its machine")
)

const (
	pingEvery   = 3 * time.Second // a connection is dead after two pings without an answer
	leastRetry  = 50 * time.Millisecond
	mostRetry   = 5 * time.Second
	resendBytes = 1 << 20 // sent while disconnected; any more are lost
)

// Bus is a cluster.Exchange over NATS. Safe for concurrent use.
type Bus struct {
	conn    *nats.Conn
	in      *nats.Subscription
	values  *bucket
	subject string          // prefix before the agent's name
	life    context.Context // until Close
	end     context.CancelFunc
}

// Open connects an agent, and makes the crawl's bucket if there is none. It retries until ctx
// ends, but fails at once if the server refuses the agent. Later it reconnects by itself.
func Open(ctx context.Context, o Options) (*Bus, error) {
	options, err := o.connection()
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, o.URL, options)
	if o.Secrets.local() && errors.Is(err, nats.ErrNkeysNotSupported) { // an existing server that asks for no key
		conn, err = connect(ctx, o.URL, append(options, nats.Nkey("", nil)))
	}
	if err != nil {
		return nil, err
	}
	b, err := begin(ctx, conn, &o)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return b, nil
}

func begin(ctx context.Context, conn *nats.Conn, o *Options) (*Bus, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	b := &Bus{
		conn: conn, subject: "fossick." + o.Crawl + ".to.",
		values: &bucket{conn: conn, js: js, crawl: o.Crawl, replicas: o.replicas, log: o.Log},
	}
	b.life, b.end = context.WithCancel(context.Background())
	if o.replicas == 0 && o.Server != nil {
		b.values.replicas = min(3, o.Server.servers)
	}
	if b.values.replicas == 3 {
		b.values.grown = time.Now()
	}
	if b.in, err = conn.SubscribeSync(b.subject + string(o.Agent)); err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	if err := b.in.SetPendingLimits(cluster.MailboxMessages, cluster.MailboxBytes); err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	_, err = b.Values(ctx) // makes the bucket; the server also learns of the subscription
	return b, err
}

// connection checks the options and returns those of the NATS library.
func (o *Options) connection() ([]nats.Option, error) {
	if err := errors.Join(checkCrawl(o.Crawl), o.Agent.Check()); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	log := o.Log
	options := []nats.Option{
		nats.Name("fossick agent " + string(o.Agent)),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.CustomReconnectDelay(pause),
		nats.ReconnectBufSize(resendBytes), nats.SyncQueueLen(cluster.MailboxMessages),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: Close
				log.Warn("lost the connection to the exchange", "err", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected to the exchange again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("exchange", "err", err) }),
	}
	if o.Server != nil {
		if o.Secrets == nil {
			o.Secrets = o.Server.secrets
		}
		if o.Server.crawl != o.Crawl || o.URL != "" {
			return nil, fmt.Errorf("exchange: crawl %s by the server of %s: %w", o.Crawl, o.Server.crawl, errURL)
		}
		return append(options, o.Secrets.proof(), nats.InProcessServer(o.Server.nats)), nil
	}
	remote, err := checkURLs(o.URL)
	switch {
	case err != nil:
		return nil, err
	case remote: // always TLS across a network
		options = append(options, nats.Secure(o.Secrets.toServer()))
	case o.Secrets == nil:
		if o.Secrets, err = localSecrets(); err != nil {
			return nil, err
		}
	}
	return append(options, o.Secrets.proof()), nil
}

// checkURLs checks the addresses, and reports whether one is of another machine.
func checkURLs(urls string) (remote bool, err error) {
	for text := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(text)
		switch {
		case err != nil: // err would repeat the address, which may have a password
			return false, fmt.Errorf("exchange: %w", errURL)
		case u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" || u.User != nil:
			return false, fmt.Errorf("exchange at %s: %w", u.Host, errURL)
		}
		remote = remote || !loopback(u.Hostname())
	}
	return remote, nil
}

// pause returns the wait before retry n, from 0.
func pause(n int) time.Duration {
	most := min(mostRetry, leastRetry<<min(n, 10))
	return most/2 + rand.N(most/2+1) // so that agents do not retry all at once
}

// connect retries until it succeeds, ctx ends, or the server refuses.
func connect(ctx context.Context, urls string, options []nats.Option) (*nats.Conn, error) {
	for n := 0; ; n++ {
		conn, err := nats.Connect(urls, options...)
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrNkeysNotSupported) ||
			errors.Is(err, nats.ErrSecureConnWanted) || errors.Is(err, nats.ErrSecureConnRequired):
			return nil, fmt.Errorf("%w (%w)", errRefused, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("exchange: %w (%v)", ctx.Err(), err)
		case <-time.After(pause(n)):
		}
	}
}

// Send implements cluster.Exchange. While disconnected it drops messages beyond a buffer.
func (b *Bus) Send(ctx context.Context, to cluster.AgentID, message []byte) error {
	if err := cluster.CheckMessage(to, message); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := b.conn.Publish(b.subject+string(to), message)
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return nil
	case errors.Is(err, nats.ErrConnectionClosed):
		return cluster.ErrClosed
	case err != nil:
		return fmt.Errorf("message to %s: %w", to, err)
	}
	return nil
}

// Receive implements cluster.Exchange. Messages to a full mailbox are lost.
func (b *Bus) Receive(ctx context.Context) ([]byte, error) {
	for {
		m, err := b.in.NextMsgWithContext(ctx)
		switch {
		case err == nil:
			return m.Data, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, nats.ErrSlowConsumer): // reported once; the next call has a message
		case b.life.Err() != nil:
			return nil, cluster.ErrClosed
		default:
			return nil, fmt.Errorf("exchange: %w", err)
		}
	}
}

// Close implements cluster.Exchange.
func (b *Bus) Close() error {
	b.end()
	b.conn.Close()
	return nil
}

// until returns a context that also ends, by cluster.ErrClosed, when the bus is closed.
func (b *Bus) until(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(b.life, func() { cancel(cluster.ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

var crawlNamed = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func checkCrawl(name string) error {
	if !crawlNamed.MatchString(name) {
		return fmt.Errorf("crawl %.70q: %w", name, errCrawl)
	}
	return nil
}
