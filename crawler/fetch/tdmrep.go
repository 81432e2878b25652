package fetch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const (
	// maxTDMRepBytes is the part of a tdmrep.json that is read.
	maxTDMRepBytes = maxRobotsBytes
	// maxReservations and maxReservedBytes bound the parsed result.
	maxReservations  = 1000
	maxReservedBytes = 64 << 10
)

// Reservations is a parsed tdmrep.json: an owner's reservations on text and data mining, by
// paths (TDM Reservation Protocol, W3C community group). It is immutable and safe for
// concurrent use. The zero value reserves nothing.
type Reservations struct{ all []reservation }

// reservation applies to paths that fit a pattern as in robots.txt.
type reservation struct {
	paths    robotsRule
	reserved bool
	policy   string // URL; not fetched
}

// reservationLine is an object in the file's array.
type reservationLine struct {
	Location    string          `json:"location"`
	Reservation json.RawMessage `json:"tdm-reservation"`
	Policy      string          `json:"tdm-policy,omitempty"`
}

// TDMRepRequest requests the tdmrep.json at url. It accepts any type and cuts a long file.
func TDMRepRequest(url string) Request {
	return Request{URL: url, Accept: []string{"*/*"}, MaxBodyBytes: maxTDMRepBytes, Truncate: true}
}

// ParseReservations reads a tdmrep.json. An error names the byte; the part before it holds. An
// object with a missing or wrong location or reservation is ignored.
func ParseReservations(body []byte) (r Reservations, err error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return r, fmt.Errorf("tdmrep.json: not an array: byte %d", d.InputOffset())
	}
	kept := 0
	for d.More() {
		var line reservationLine
		var wrong *json.UnmarshalTypeError
		if err := d.Decode(&line); errors.As(err, &wrong) {
			continue
		} else if err != nil {
			return r, fmt.Errorf("tdmrep.json: byte %d: %w", d.InputOffset(), err)
		}
		one, ok := line.compile()
		if !ok {
			continue
		}
		if kept += len(one.paths.raw) + len(one.policy); len(r.all) == maxReservations || kept > maxReservedBytes {
			return r, fmt.Errorf("tdmrep.json: too long: the rest after byte %d is not read", d.InputOffset())
		}
		r.all = append(r.all, one)
	}
	if _, err := d.Token(); err != nil {
		return r, fmt.Errorf("tdmrep.json: byte %d: %w", d.InputOffset(), err)
	}
	return r, nil
}

func (l *reservationLine) compile() (r reservation, ok bool) {
	location, value := l.Location, strings.Trim(string(l.Reservation), `"`)
	if location == "" || value != "0" && value != "1" {
		return r, false
	}
	if location[0] != '/' && location[0] != '*' {
		location = "/" + location
	}
	return reservation{compileRule(false, location), value == "1", l.Policy}, true
}

// Said returns the file's statements about a URL by its path and query: names and values. The
// longest matching pattern counts, and among equals one that reserves.
func (r Reservations) Said(pathAndQuery string) (said [][2]string) {
	var best *reservation
	path := normalOctets(pathAndQuery)
	for i := range r.all {
		one := &r.all[i]
		longer := best == nil || one.paths.octets > best.paths.octets
		stricter := best != nil && one.paths.octets == best.paths.octets && one.reserved && !best.reserved
		if (longer || stricter) && one.paths.matches(path) {
			best = one
		}
	}
	if best == nil {
		return nil
	}
	said = append(said, [2]string{"tdm-reservation", best.value()})
	if best.policy != "" {
		said = append(said, [2]string{"tdm-policy", best.policy})
	}
	return said
}

func (r *reservation) value() string {
	if r.reserved {
		return "1"
	}
	return "0"
}

// MarshalText writes the reservations for ParseReservations.
func (r Reservations) MarshalText() ([]byte, error) {
	lines := make([]reservationLine, 0, len(r.all))
	for i := range r.all {
		one := &r.all[i]
		lines = append(lines, reservationLine{one.paths.raw, json.RawMessage(one.value()), one.policy})
	}
	return json.Marshal(lines)
}
