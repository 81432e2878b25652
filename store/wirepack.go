package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"
)

// A wire record is
//
//	version (1) · kind (1) · SHA-1 of the body (20; of a WireRepeat alone) ·
//	flags (1) · length of the address (1) · the address · text · CRC-32C of all that (4)
//
// The text is one S2 block over wireDict: the length of the request as it stands there
// (uvarint), the request, the response. A request that begins as the URL says has that left
// out. A date as HTTP writes it is dateMark and its Unix seconds (4), where wireDates is not.
const wireVersion = 1

// The flags, and the two bits of the protocol above them.
const (
	wireRebuilt = 1 << iota
	wireCut
	wireUsual // the request's first two lines are left out
	wireDates // dates stand as they are
	wireProtocol
)

var wireProtocols = [4]string{"http/1.1", "http/1.0", "h2", ""}

const (
	dateMark = 1
	dateSize = len(http.TimeFormat)
	// maxWireText is above what two headers of 16 KiB have.
	maxWireText = 64 << 10
)

var (
	wireWords  = sync.OnceValue(func() *s2.Dict { return s2.MakeDict([]byte(wireDict), nil) })
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// PackWire packs the headers of an exchange for a URL, for PutWire.
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

// usualRequest is how a request for a URL begins.
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

// read takes the record of an exchange.
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

// unpack is the reverse of PackWire, and says why it cannot be.
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

// packDates writes dates short, of a text without dateMark.
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

// dateOf reads a date that is written in no other way than this.
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
