package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"fossick/crawler/cluster"
)

// ServeOptions are the settings of a server. Crawl, Agent and Dir are required.
type ServeOptions struct {
	Crawl   string          // name of the crawl: letters, digits, - and _
	Agent   cluster.AgentID // the server's agent; unique among the crawl's servers
	Dir     string          // for files, on a persistent disk
	Clients string          // host:port on loopback for other processes of this machine; "": none
	Routes  string          // host:port at which other servers reach this one; "": no cluster
	Peers   []string        // host:port of other servers; at least one if Routes is set
	Secrets *Secrets        `json:"-"` // required if Routes is not on loopback; nil: localSecrets
	Log     *slog.Logger    `json:"-"` // nil: silent

	unsynced bool // for tests: acknowledge writes before they are on disk
}

// startWait limits the start of a server, which usually takes 0.1 s.
const (
	startWait = 30 * time.Second
	startStep = 100 * time.Millisecond // interval between checks for an error
)

// pendingBytes is how much a server buffers for one slow reader before it disconnects it.
const pendingBytes = 32 << 20

// errServe reports a server that does not start.
var errServe = errors.New("the exchange's server does not start")

// Server is a NATS server in this process. Safe for concurrent use.
type Server struct {
	nats    *natsserver.Server
	crawl   string
	servers int // number of servers known at the start, including this one
	secrets *Secrets
}

// Serve starts a server. With Routes, values can only be written once most of the servers are up.
func Serve(o ServeOptions) (*Server, error) {
	settings, err := o.settings()
	if err != nil {
		return nil, err
	}
	told := newServerLog(o.Log)
	s, err := natsserver.NewServer(settings)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errServe, err)
	}
	s.SetLoggerV2(told, false, false, false)
	s.Start()
	ready := false
	for begun := time.Now(); !ready && told.fatal() == nil && time.Since(begun) < startWait; {
		ready = s.ReadyForConnections(startStep)
	}
	if !ready || told.fatal() != nil {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, errors.Join(errServe, told.fatal())
	}
	return &Server{nats: s, crawl: o.Crawl, servers: 1 + len(settings.Routes), secrets: o.Secrets}, nil
}

func (o *ServeOptions) settings() (*natsserver.Options, error) {
	if err := checkCrawl(o.Crawl); err != nil {
		return nil, err
	}
	if err := o.Agent.Check(); err != nil {
		return nil, err
	}
	s := &natsserver.Options{
		ServerName: string(o.Agent),
		NoSigs:     true,
		DontListen: o.Clients == "" && o.Routes == "",
		MaxPayload: natsserver.MAX_PAYLOAD_SIZE,
		MaxPending: pendingBytes,
		JetStream:  true,
		StoreDir:   o.Dir,
		// An acknowledged value must survive a power cut; writes are rare.
		SyncAlways:             !o.unsynced,
		JetStreamMaxMemory:     1 << 20,
		JetStreamMaxStore:      1 << 30,
		DisableJetStreamBanner: true,
	}
	clients := o.Clients
	if clients == "" {
		clients = "127.0.0.1:0" // with routes, the library requires a client port
	}
	var err error
	if s.Host, s.Port, err = address(clients); err != nil {
		return nil, err
	}
	if !loopback(s.Host) {
		return nil, fmt.Errorf("clients at %s: %w: only processes of this machine; want 127.0.0.1:PORT", o.Clients, errServe)
	}
	if err := o.routes(s); err != nil || s.DontListen {
		return s, err
	}
	if o.Secrets == nil {
		if o.Secrets, err = localSecrets(); err != nil {
			return nil, err
		}
	}
	s.Nkeys = []*natsserver.NkeyUser{{Nkey: o.Secrets.public}}
	if o.Secrets.local() && o.Routes != "" {
		s.Cluster.Username = o.Secrets.routes.Username()
		s.Cluster.Password, _ = o.Secrets.routes.Password()
		for _, peer := range s.Routes {
			peer.User = o.Secrets.routes
		}
	}
	return s, nil
}

// routes sets the connections to the other servers.
func (o *ServeOptions) routes(s *natsserver.Options) (err error) {
	if o.Routes == "" {
		if len(o.Peers) > 0 {
			return fmt.Errorf("peers %v: %w without an address at which they reach this one", o.Peers, errServe)
		}
		return nil
	}
	s.Cluster.Name = o.Crawl
	if s.Cluster.Host, s.Cluster.Port, err = address(o.Routes); err != nil {
		return err
	}
	switch {
	case len(o.Peers) == 0:
		return fmt.Errorf("routes at %s: %w without the address of another server", o.Routes, errServe)
	case o.Secrets == nil && !loopback(s.Cluster.Host):
		return fmt.Errorf("routes at %s: %w between machines without keys; make them by fossick cluster init", o.Routes, errServe)
	case o.Secrets != nil:
		s.Cluster.TLSConfig = o.Secrets.between()
		s.Cluster.TLSTimeout = 5
	}
	for _, peer := range o.Peers {
		if _, _, err := address(peer); err != nil {
			return err
		}
		if peer != o.Routes {
			s.Routes = append(s.Routes, &url.URL{Scheme: "nats", Host: peer})
		}
	}
	return nil
}

// Addr returns the host:port for clients, or "" without one.
func (s *Server) Addr() string {
	if a := s.nats.Addr(); a != nil {
		return a.String()
	}
	return ""
}

// Clients returns the number of client connections, including that of this process's agent.
func (s *Server) Clients() int { return s.nats.NumClients() }

// Close stops the server and waits until its files are closed.
func (s *Server) Close() error {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	return nil
}

func address(text string) (host string, port int, err error) {
	host, name, err := net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.Atoi(name)
	}
	if err != nil || port < 0 || port > 65535 || host == "" {
		return "", 0, fmt.Errorf("address %q: %w; want HOST:PORT", text, errServe)
	}
	if port == 0 {
		port = natsserver.RANDOM_PORT
	}
	return host, port, nil
}

// loopback reports whether a host is a loopback address or localhost. It resolves no other names.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serverLog passes the server's log to a slog.Logger. Safe for concurrent use.
type serverLog struct {
	to *slog.Logger

	mu   sync.Mutex
	died error // guarded by mu: why the server cannot run
}

func newServerLog(to *slog.Logger) *serverLog {
	if to == nil {
		to = slog.New(slog.DiscardHandler)
	}
	return &serverLog{to: to.With("part", "exchange")}
}

func (l *serverLog) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.died
}

// Noticef and the methods below are the library's logger. Absent peers are errors there, and here
// only warnings.
func (l *serverLog) Noticef(format string, v ...any) { l.to.Debug(fmt.Sprintf(format, v...)) }

func (l *serverLog) Debugf(format string, v ...any) { l.to.Debug(fmt.Sprintf(format, v...)) }

func (l *serverLog) Warnf(format string, v ...any) { l.to.Warn(fmt.Sprintf(format, v...)) }

func (l *serverLog) Errorf(format string, v ...any) { l.to.Warn(fmt.Sprintf(format, v...)) }

func (l *serverLog) Tracef(string, ...any) {}

// Fatalf records why the server cannot run. The library expects the process to end.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.died = fmt.Errorf(format, v...)
	l.to.Error(l.died.Error())
}
