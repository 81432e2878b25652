package netstate

import "fossick/store/change"

// OutcomeOf is the class of a visit, by its network state and the code of its answer; false
// where it says nothing of the next one: nobody was asked, or we did not want the answer.
func OutcomeOf(state string, code int) (o Outcome, ok bool) {
	switch state {
	case "redirect":
		return OK, true
	case "robots_denied", "guard_denied", "trap", "none":
		return OK, false
	case "too_large", "wrong_type":
		return Permanent, true
	case "code":
		if code != 429 && code < 500 {
			return Permanent, true
		}
		return Transient, true
	}
	if change.Downloaded(state) {
		return OK, true
	}
	return Transient, true
}
