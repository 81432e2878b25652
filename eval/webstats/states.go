package webstats

// The states of URLs that mean something here; the others are only counted. Their names are
// those of the journal.
const (
	stateOK        = "ok"
	stateDuplicate = "duplicate"
	stateShell     = "script_only"
	stateNone      = "none"
	stateRobots    = "robots_denied"
	stateGuard     = "guard_denied"
	stateTrap      = "trap"
)

// tried says whether the URL has an outcome as paper E counts it: a request for it was made,
// or none could be, since its host was not found or did not answer.
func (u *URL) tried() bool {
	switch u.State {
	case stateGuard:
		return false
	case "", stateNone, stateRobots, stateTrap:
		return u.requested()
	}
	return true
}

// requested says whether a request for the URL itself is on record.
func (u *URL) requested() bool { return len(u.Exchanges) > 0 && u.State != stateGuard }

// downloaded says whether an answer had a whole page.
func (u *URL) downloaded() bool {
	for _, x := range u.Exchanges {
		if x.State == stateOK {
			return true
		}
	}
	return u.State == stateOK || u.State == stateDuplicate
}

// unaskedAs names why a URL was not requested.
func unaskedAs(state string) string {
	switch state {
	case "":
		return "waiting"
	case stateNone:
		return "not wanted"
	}
	return state
}
