package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/s2"
)

// WireKind is the kind of an answer whose headers are stored.
type WireKind byte

const (
	WirePage      WireKind = 1 // its body is stored
	WireSame      WireKind = 2 // 304
	WireRepeat    WireKind = 3 // its body is not stored, because a stored page has the same content
	WireRedirect  WireKind = 4
	lastWireKind           = WireRedirect
	wireDigestLen          = 20
)

// Wire holds the headers of an exchange, request and response, as lines with their line ends.
type Wire struct {
	Protocol string     // "http/1.0", "http/1.1", "h2"
	Addr     netip.Addr // of the server; zero if unknown
	Request  []byte
	Response []byte
	Rebuilt  bool // rebuilt from parsed fields: order and case are not the server's
	Cut      bool
}

// WireRecord is a packed Wire for PutWire; see PackWire.
type WireRecord struct {
	Kind   WireKind
	Digest [wireDigestLen]byte // SHA-1 of the body; stored only for a WireRepeat
	Packed []byte
}

// Exchanged is an exchange for a URL, with its headers.
type Exchanged struct {
	ID       ID
	URL      string
	Visit    int
	Kind     WireKind
	Start    int64 // Unix milliseconds
	Location ID    // target of a WireRedirect; 0 if the crawl did not follow it
	Digest   [wireDigestLen]byte
	Wire
}

func (b *Batch) PutWire(id ID, n int, w WireRecord) error {
	k := visitKey(id, n)
	k[0] = keyWire
	return b.set(k, wireValue(w))
}

// dropWires removes a URL's headers, which may tell of deleted content.
func (b *Batch) dropWires(id ID) error {
	var keys [][]byte
	for item := range items(b.txn, numKey(keyWire, uint64(id))) {
		keys = append(keys, item.KeyCopy(nil))
	}
	return b.delete(keys...)
}

// Exchanged returns the exchanges for a URL whose headers are stored, by time.
func (u URLs) Exchanged(id ID) (all []Exchanged, err error) {
	err = u.records.view(func(txn *badger.Txn) error {
		var discovery Discovery
		for item := range items(txn, numKey(keyWire, uint64(id))) {
			if all == nil {
				if err := get(txn, numKey(keyDiscovery, uint64(id)), &discovery); err != nil {
					return err
				}
			}
			x, err := exchanged(txn, item, discovery.URL)
			if err != nil {
				return err
			}
			all = append(all, x)
		}
		return nil
	})
	return all, err
}

func exchanged(txn *badger.Txn, item *badger.Item, url string) (x Exchanged, err error) {
	k := item.KeyCopy(nil)
	if x.ID, x.Visit, err = wireKeyOf(k); err != nil {
		return x, err
	}
	x.URL = url
	if err := valueOf(item, k, func(k, v []byte) error { return x.read(k, v) }); err != nil {
		return x, err
	}
	v, err := visitAt(txn, x.ID, x.Visit)
	x.Start, x.Location = v.Start, v.Location
	return x, err
}

// Elsewhere is a URL whose exchanges led to another URL's page.
type Elsewhere struct {
	ID    ID
	To    ID   // last redirect target, else the URL whose page it duplicates; 0 if unknown
	Paged bool // it also has a page of its own
}

// Elsewhere yields the URLs with stored redirects or duplicates, each once, in order of discovery.
func (u URLs) Elsewhere() iter.Seq2[Elsewhere, error] {
	return seq(u.records, func(txn *badger.Txn, yield func(Elsewhere) bool) error {
		var e Elsewhere
		for item := range items(txn, key(keyWire)) {
			id, visit, err := wireKeyOf(item.Key())
			kind := WireKind(0)
			if err == nil {
				kind, err = kindOf(item)
			}
			if err == nil && (kind == WireRepeat || kind == WireRedirect) {
				if e.ID != id && e.ID != 0 && !yield(e) {
					return nil
				}
				e, err = elsewhere(txn, id, visit, kind)
			}
			if err != nil {
				return err
			}
		}
		if e.ID != 0 {
			yield(e)
		}
		return nil
	})
}

func kindOf(item *badger.Item) (kind WireKind, err error) {
	k := item.KeyCopy(nil)
	err = valueOf(item, k, func(k, v []byte) error {
		if len(v) < 2 {
			return fmt.Errorf("store key %q: %w: %d bytes", k, ErrDamaged, len(v))
		}
		kind = WireKind(v[1])
		return nil
	})
	return kind, err
}

func elsewhere(txn *badger.Txn, id ID, visit int, kind WireKind) (e Elsewhere, err error) {
	var f Outcome
	e.ID = id
	if err := get(txn, numKey(keyOutcome, uint64(id)), &f); err != nil {
		return e, finding(err)
	}
	e.Paged = f.HasPage()
	if kind == WireRedirect {
		var v Visit
		v, err = visitAt(txn, id, visit)
		e.To = v.Location
	} else if !e.Paged && f.Page != 0 {
		var p Page
		err = get(txn, numKey(keyPage, f.Page), &p)
		e.To = p.ID
	}
	return e, finding(err)
}

func wireKeyOf(k []byte) (ID, int, error) {
	if len(k) != 11 {
		return 0, 0, fmt.Errorf("store key %q: %w: %d bytes, want 11", k, ErrDamaged, len(k))
	}
	return ID(binary.BigEndian.Uint64(k[1:9])), int(binary.BigEndian.Uint16(k[9:])), nil
}

// A wire record is
//
//	version (1) · kind (1) · SHA-1 of the body (20; only for a WireRepeat) ·
//	flags (1) · address length (1) · address · text · CRC-32C of all before (4)
//
// The text is one S2 block with the dictionary wireDict: length of the stored request (uvarint),
// request, response. With wireUsual, the request's first two lines follow from the URL and are left
// out. Without wireDates, an HTTP date is stored as dateMark and Unix seconds (4).
const wireVersion = 1

// Flags of a wire record; the two bits above them hold the protocol.
const (
	wireRebuilt = 1 << iota
	wireCut
	wireUsual // the request's first two lines are left out
	wireDates // dates are stored literally
	wireProtocol
)

var wireProtocols = [4]string{"http/1.1", "http/1.0", "h2", ""}

const (
	dateMark    = 1
	dateSize    = len(http.TimeFormat)
	maxWireText = 64 << 10
)

var (
	wireWords  = sync.OnceValue(func() *s2.Dict { return s2.MakeDict([]byte(wireDict), nil) })
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

func PackWire(url string, w *Wire) []byte {
	flags := byte(0)
	for i, p := range wireProtocols {
		if p == w.Protocol || p == "" {
			flags = byte(i * wireProtocol)
			break
		}
	}
	if w.Rebuilt {
		flags |= wireRebuilt
	}
	if w.Cut {
		flags |= wireCut
	}
	request, usual := bytes.CutPrefix(w.Request, usualRequest(url))
	if usual {
		flags |= wireUsual
	}
	response := w.Response
	if bytes.IndexByte(request, dateMark) >= 0 || bytes.IndexByte(response, dateMark) >= 0 {
		flags |= wireDates
	} else {
		request, response = packDates(request), packDates(response)
	}
	text := binary.AppendUvarint(make([]byte, 0, 10+len(request)+len(response)), uint64(len(request)))
	text = append(append(text, request...), response...)
	addr := w.Addr.AsSlice()
	packed := append([]byte{flags, byte(len(addr))}, addr...)
	return append(packed, wireWords().Encode(nil, text)...)
}

func usualRequest(url string) []byte {
	_, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	return []byte("GET /" + path + " HTTP/1.1\r\nHost: " + host + "\r\n")
}

func wireValue(w WireRecord) []byte {
	v := append(make([]byte, 0, len(w.Packed)+26), wireVersion, byte(w.Kind))
	if w.Kind == WireRepeat {
		v = append(v, w.Digest[:]...)
	}
	v = append(v, w.Packed...)
	return binary.LittleEndian.AppendUint32(v, crc32.Checksum(v, castagnoli))
}

func (x *Exchanged) read(k, v []byte) error {
	bad := func(why string) error { return fmt.Errorf("store key %q: %w: %s", k, ErrDamaged, why) }
	if len(v) < 8 || crc32.Checksum(v[:len(v)-4], castagnoli) != binary.LittleEndian.Uint32(v[len(v)-4:]) {
		return bad("a header without its checksum")
	}
	if v[0] != wireVersion {
		return fmt.Errorf("store key %q: %w: version %d of headers; a newer fossick reads it", k, ErrNewer, v[0])
	}
	x.Kind, v = WireKind(v[1]), v[2:len(v)-4]
	if x.Kind < WirePage || x.Kind > lastWireKind {
		return bad("an unknown kind of answer")
	}
	if x.Kind == WireRepeat {
		if v = v[copy(x.Digest[:], v):]; len(v) < 2 {
			return bad("no digest")
		}
	}
	if why := x.Wire.unpack(v, x.URL); why != "" {
		return bad(why)
	}
	return nil
}

// unpack inverts PackWire, and returns the reason if it cannot.
func (w *Wire) unpack(v []byte, url string) (why string) {
	flags, n := v[0], int(v[1])
	if v = v[2:]; len(v) < n {
		return "a truncated address"
	}
	if n > 0 {
		var ok bool
		if w.Addr, ok = netip.AddrFromSlice(v[:n]); !ok {
			return "no address"
		}
	}
	w.Protocol, w.Rebuilt, w.Cut = wireProtocols[flags/wireProtocol&3], flags&wireRebuilt != 0, flags&wireCut != 0
	if size, err := s2.DecodedLen(v[n:]); err != nil || size > maxWireText {
		return "the length of the text is missing or too large"
	}
	text, err := wireWords().Decode(nil, v[n:])
	if err != nil {
		return err.Error()
	}
	length, at := binary.Uvarint(text)
	if at <= 0 || length > uint64(len(text)-at) {
		return "a truncated request"
	}
	text = text[at:]
	w.Request, w.Response = text[:length:length], text[length:]
	if flags&wireDates == 0 {
		w.Request, w.Response = unpackDates(w.Request), unpackDates(w.Response)
	}
	if flags&wireUsual != 0 {
		w.Request = append(usualRequest(url), w.Request...)
	}
	return ""
}

func packDates(text []byte) []byte {
	short := make([]byte, 0, len(text))
	for {
		i := bytes.Index(text, []byte(" GMT")) + len(" GMT")
		if i < len(" GMT") {
			return append(short, text...)
		}
		if seconds, is := dateOf(text[max(0, i-dateSize):i]); is {
			short = append(short, text[:i-dateSize]...)
			short = binary.BigEndian.AppendUint32(append(short, dateMark), seconds)
		} else {
			short = append(short, text[:i]...)
		}
		text = text[i:]
	}
}

func dateOf(text []byte) (seconds uint32, is bool) {
	t, err := time.Parse(http.TimeFormat, string(text))
	at := t.Unix()
	return uint32(at), err == nil && at >= 0 && at < 1<<32 && t.Format(http.TimeFormat) == string(text)
}

func unpackDates(short []byte) []byte {
	text := make([]byte, 0, 2*len(short))
	for {
		i := bytes.IndexByte(short, dateMark)
		if i < 0 || len(short) < i+5 {
			return append(text, short...)
		}
		at := time.Unix(int64(binary.BigEndian.Uint32(short[i+1:])), 0).UTC()
		text, short = at.AppendFormat(append(text, short[:i]...), http.TimeFormat), short[i+5:]
	}
}

// wireDict holds common header text, the most common last. A change needs a new wireVersion.
const wireDict = "x-amz-cf-pop: \r\nx-amz-cf-id: \r\nx-amz-request-id: \r\nVia: 1.1 varnish\r\nvia: 1.1 google\r\nX-Timer: S" +
	"X-Served-By: cache-\r\nX-Cache-Hits: 0\r\nX-Cache: MISS\r\nX-Cache: HIT\r\nX-Varnish: \r\nAge: 0\r\nalt-svc: h3=\":443\"; ma=86400\r\n" +
	"cf-cache-status: DYNAMIC\r\ncf-ray: \r\nserver: cloudflare\r\nServer: cloudflare\r\nreport-to: {\"group\":\"cf-nel\",\"max_age\":604800,\"endpoints\":[{\"url\":\"https://\"}]}\r\n" +
	"nel: {\"success_fraction\":0,\"report_to\":\"cf-nel\",\"max_age\":604800}\r\nContent-Security-Policy: default-src 'self' 'unsafe-inline' 'unsafe-eval' data: https: ; script-src 'self'; style-src 'self'; img-src * data:; frame-ancestors 'self'; upgrade-insecure-requests\r\n" +
	"content-security-policy: Permissions-Policy: geolocation=(), microphone=(), camera=()\r\nReferrer-Policy: strict-origin-when-cross-origin\r\nreferrer-policy: no-referrer-when-downgrade\r\n" +
	"Strict-Transport-Security: max-age=31536000; includeSubDomains; preload\r\nstrict-transport-security: max-age=63072000\r\nX-XSS-Protection: 1; mode=block\r\nx-xss-protection: 0\r\n" +
	"X-Frame-Options: SAMEORIGIN\r\nx-frame-options: DENY\r\nX-Content-Type-Options: nosniff\r\nx-content-type-options: nosniff\r\n" +
	"Access-Control-Allow-Origin: *\r\naccess-control-allow-origin: *\r\nP3P: CP=\"NOI DSP COR CUR\"\r\nX-UA-Compatible: IE=edge\r\nX-AspNet-Version: 4.0.30319\r\nX-Powered-By: ASP.NET\r\nX-Powered-By: PHP/8.2.7\r\nx-powered-by: PHP/7.4.33\r\n" +
	"X-Drupal-Cache: HIT\r\nX-Generator: Drupal 10 (https://www.drupal.org)\r\nX-Pingback: /xmlrpc.php\r\nLink: </wp-json/>; rel=\"https://api.w.org/\"\r\nlink: <https://www.>; rel=shortlink\r\nrel=\"alternate\"; rel=\"canonical\"; title=\"JSON\"; type=\"application/json\"\r\n" +
	"Set-Cookie: PHPSESSID=; path=/; domain=.; expires=; Max-Age=; HttpOnly; Secure; SameSite=Lax\r\nset-cookie: ; Path=/; Domain=; Expires=; Max-Age=0; HttpOnly; secure; SameSite=None\r\nJSESSIONID=" +
	"X-Robots-Tag: noindex, nofollow, noarchive\r\nX-Request-Id: \r\nX-Runtime: 0.0\r\nContent-Disposition: inline; filename=\"\r\nRefresh: 0; url=\r\nRetry-After: 120\r\nContent-Language: en\r\ncontent-language: en-US\r\nContent-Location: index.html.en\r\nTCN: choice\r\nStatus: 200 OK\r\n" +
	"Pragma: no-cache\r\npragma: no-cache\r\nExpires: Thu, 19 Nov 1981 08:52:00 GMT\r\nexpires: Thu, 01 Jan 1970 00:00:00 GMT\r\nExpires: -1\r\n" +
	"Cache-Control: no-store, no-cache, must-revalidate, post-check=0, pre-check=0\r\ncache-control: private, max-age=0, must-revalidate\r\nCache-Control: public, max-age=3600, s-maxage=86400\r\ncache-control: max-age=600\r\nstale-while-revalidate=" +
	"Vary: Accept-Encoding, Cookie, User-Agent\r\nvary: Accept-Encoding,Origin\r\nKeep-Alive: timeout=5, max=100\r\nConnection: close\r\nConnection: Keep-Alive\r\nProxy-Connection: Upgrade: h2,h2c\r\nConnection: Upgrade, Keep-Alive\r\n" +
	"server: Apache\r\nserver: nginx\r\nServer: Microsoft-IIS/10.0\r\nServer: LiteSpeed\r\nServer: openresty\r\nServer: gunicorn\r\nServer: Apache/2.4.57 (Debian) OpenSSL/3.0.9 mod_ssl PHP/\r\nServer: Apache/2.4.41 (Ubuntu)\r\nServer: Apache/2.2.15 (Red Hat) DAV/2\r\nServer: Apache/1.3.37 (Unix) mod_perl/1.29\r\nServer: nginx/1.18.0 (Ubuntu)\r\nServer: nginx\r\nServer: Apache\r\n" +
	"Content-Type: application/xhtml+xml\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Type: text/html; charset=ISO-8859-1\r\nLocation: http://www.\r\nlocation: https://www.\r\n" +
	"GMT Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec 2019 2020 2021 2022 2023 2024 2025 2026 2027 2028 :00:00 GMT\r\n" +
	" HTTP/1.1\r\nhost: www.\r\naccept: text/html, application/xhtml+xml, text/plain\r\naccept-encoding: gzip\r\nif-modified-since: \r\nif-none-match: \"\r\nuser-agent: fossick/1.0 (+https://\r\n" +
	"GET / HTTP/1.1\r\nHost: www.\r\nUser-Agent: fossick/1.0 (+https://www..org/bot.html)\r\nAccept: text/html, application/xhtml+xml, text/plain\r\nAccept-Encoding: gzip\r\nIf-Modified-Since: \r\nIf-None-Match: W/\"\r\n" +
	"HTTP/1.1 404 Not Found\r\nHTTP/1.1 302 Found\r\nHTTP/1.1 301 Moved Permanently\r\nHTTP/1.1 304 Not Modified\r\n" +
	"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ndate: Thu, \r\nlast-modified: Wed, \r\netag: W/\"\r\naccept-ranges: bytes\r\ncontent-length: \r\nvary: Accept-Encoding\r\ncontent-encoding: gzip\r\n" +
	"HTTP/1.1 200 OK\r\nServer: Apache\r\nDate: Sun, Date: Sat, Date: Fri, Date: Thu, Date: Wed, Date: Tue, Date: Mon, Last-Modified: Sun, Last-Modified: Sat, Last-Modified: Fri, Last-Modified: Thu, Last-Modified: Wed, Last-Modified: Tue, Last-Modified: Mon, GMT\r\nETag: \"\"\r\nAccept-Ranges: bytes\r\n" +
	"Vary: Accept-Encoding\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\nConnection: keep-alive\r\nContent-Type: text/html\r\nContent-Type: text/html; charset=utf-8\r\nContent-Type: text/html; charset=UTF-8\r\n"
