package change

import (
	"encoding/binary"
	"errors"
	"math"
)

// A predictor's knowledge is stored in two kinds of records: one for each host that failed, and one
// for the tables and weights that all hosts share. The pasts of URLs are recomputed from their
// visits.
//
// A host's record is the version (1 byte), seconds of the last visit (uvarint), outcome and run (1
// byte each), successes and visits (float32 each), a byte with a bit for each part of the day with
// visits, and two float32 for each bit. The shared record is the version, all cells of the three
// tables as pairs of float32, then weights and squares as float64. All is little-endian.

const keptVersion = 1

var errKept = errors.New("the stored network states cannot be read")

// Flawless reports whether no visit of a host failed, as far as the predictor remembers.
func (p *Predictor) Flawless(host string) bool {
	h, _ := p.hosts.Peek(key(host))
	return h.good == h.all
}

// KeptHost returns the record of a host, or nil for a flawless one.
func (p *Predictor) KeptHost(host string) []byte {
	h, known := p.hosts.Peek(key(host))
	if !known || h.good == h.all {
		return nil
	}
	b := binary.AppendUvarint([]byte{keptVersion}, uint64(max(h.at, 0)))
	b = append(b, byte(h.last), h.run)
	b = appendCell(b, cell{h.good, h.all})
	at := len(b)
	b = append(b, 0)
	for i, d := range h.days {
		if d.all > 0 {
			b[at] |= 1 << i
			b = appendCell(b, d)
		}
	}
	return b
}

// RestoreHost restores a host from its record, unless the host is known already.
func (p *Predictor) RestoreHost(host string, b []byte) error {
	if _, known := p.hosts.Peek(key(host)); known {
		return nil
	}
	if len(b) == 0 || b[0] != keptVersion {
		return errKept
	}
	at, n := binary.Uvarint(b[1:])
	if n <= 0 || at > math.MaxInt64 || len(b) < 1+n+2+cellBytes+1 {
		return errKept
	}
	b = b[1+n:]
	h := hostPast{past: past{at: int64(at), last: Outcome(b[0]), run: b[1]}}
	c, ok := cellOf(b[2:])
	has := b[2+cellBytes]
	b = b[2+cellBytes+1:]
	h.good, h.all = c.good, c.all
	ok = ok && h.last < outcomes
	for i := range h.days {
		if has&(1<<i) == 0 {
			continue
		}
		if len(b) < cellBytes {
			return errKept
		}
		d, good := cellOf(b)
		h.days[i], b, ok = d, b[cellBytes:], ok && good
	}
	if !ok || len(b) != 0 {
		return errKept
	}
	p.hosts.Put(key(host), h)
	return nil
}

// Kept returns the record of what all hosts share, some 11 KB.
func (p *Predictor) Kept() []byte {
	b := []byte{keptVersion}
	for _, t := range p.tables() {
		for _, c := range t {
			b = appendCell(b, c)
		}
	}
	for _, part := range p.mixer.parts() {
		for _, x := range part {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
	}
	return b
}

// Restore restores the shared record. After an error the predictor is unchanged.
func (p *Predictor) Restore(b []byte) error {
	if len(b) != len(p.Kept()) || b[0] != keptVersion {
		return errKept
	}
	b = b[1:]
	restored := NewPredictor(PredictorOptions{URLs: 1, Hosts: 1})
	for _, t := range restored.tables() {
		for i := range t {
			c, ok := cellOf(b)
			if !ok || c.good <= 0 || c.good >= c.all {
				return errKept
			}
			t[i], b = c, b[cellBytes:]
		}
	}
	for _, part := range restored.mixer.parts() {
		for i := range part {
			if part[i], b = math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:]; math.IsNaN(part[i]) || math.IsInf(part[i], 0) {
				return errKept
			}
		}
	}
	for _, s := range restored.mixer.squares {
		for _, x := range s {
			if x < settled {
				return errKept
			}
		}
	}
	p.byURL, p.byHost, p.byBoth, p.mixer = restored.byURL, restored.byHost, restored.byBoth, restored.mixer
	return nil
}

func (p *Predictor) tables() []table { return []table{p.byURL, p.byHost, p.byBoth} }

func (m *mixer) parts() (all [][]float64) {
	for i := range m.weights {
		all = append(all, m.weights[i][:])
	}
	for i := range m.squares {
		all = append(all, m.squares[i][:])
	}
	return all
}

const cellBytes = 8

func appendCell(b []byte, c cell) []byte {
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.good))
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(c.all))
}

// cellOf reads a cell; ok is false if no visits can produce it.
func cellOf(b []byte) (c cell, ok bool) {
	c.good = math.Float32frombits(binary.LittleEndian.Uint32(b))
	c.all = math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))
	return c, c.good >= 0 && c.all >= c.good && c.all <= 2*cellMost
}
