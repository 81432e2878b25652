package change

import "slices"

// Kind says what a visit found changed.
type Kind byte

// The kinds of change. A changed text implies a changed content.
const (
	None    Kind = iota // as it was, or no page
	Content             // the bytes; main text as it was: an advert, a date, a menu
	Text                // the main text
	Unsure              // the bytes; of the main text nobody knows
)

// Changed says whether the bytes had changed.
func (k Kind) Changed() bool { return k != None }

// Visit is one exchange for a page that had been fetched before.
type Visit struct {
	At     int64  // when it began, Unix milliseconds
	Took   int64  // until the last byte, milliseconds
	Rest   int64  // that the host was due afterwards, milliseconds
	State  string // network state (paper E, E3), one of States
	Change Kind

	Code       int    // of the answer; 0 where there is none
	To         uint64 // number of the URL that a redirect led to; 0 for none
	RetryAfter int64  // that the answer asked for, milliseconds
	Own        int64  // of Rest, what binds the host alone and no other at its address

	// Modified is Last-Modified, Unix seconds, no later than the visit. 0 where none was told;
	// where nothing had changed, also where it was as before.
	Modified int64
}

// states are those that a History can keep. Their places are on disk: new ones go to the end.
var states = []string{
	"ok", "not_modified", "redirect", "duplicate", "code", "no_ip", "connect_error", "connect_timeout", "tls_error",
	"header_error", "header_timeout", "body_error", "body_timeout", "too_large", "wrong_type", "robots_denied", "guard_denied", "trap", "none",
}

// Downloaded says whether a visit in this state found the page where it was asked for.
func Downloaded(state string) bool {
	i := slices.Index(states, state)
	return i == 0 || i == 1 || i == 3
}

// usual is the code of a state that needs not be written.
func usual(state byte) int {
	switch states[state] {
	case "ok", "duplicate":
		return 200
	case "not_modified":
		return 304
	}
	return 0
}
