package page

import (
	"bytes"
	"strings"
)

// DefaultDrop lists the parameters that a normal form leaves out: names of
// sessions, which give one page a URL a visit, and marks of campaigns and
// clicks, which give it a URL a way in. Names have no case. An entry is
//
//	name        that parameter
//	name*       all parameters whose names start so
//	name={hex}  that parameter when its value is 16 hexadecimal digits or more:
//	            names that mean something else on other sites
func DefaultDrop() []string {
	return []string{
		// Sessions.
		"phpsessid", "jsessionid", "aspsessionid*", "cfid", "cftoken", "zenid", "oscsid", "xtcsid",
		"mscssid", "sessid={hex}", "sessionid={hex}", "session_id={hex}", "session={hex}", "sid={hex}", "s={hex}",
		// Campaigns and clicks.
		"utm_*", "mtm_*", "pk_campaign", "pk_kwd", "pk_source", "pk_medium", "pk_content", "piwik_*", "matomo_*",
		"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "srsltid", "_ga", "_gl", "fbclid", "msclkid",
		"yclid", "ysclid", "_openstat", "twclid", "ttclid", "igshid", "igsh", "li_fat_id", "epik", "rb_clickid",
		"mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",
		"oly_anon_id", "oly_enc_id", "vero_id", "wickedid", "s_kwcid", "ef_id", "_branch_match_id",
	}
}

// dropList decides which parameters go.
type dropList struct {
	names    map[string]bool // true: only with a value of hexadecimal digits
	prefixes []string
	longest  int // bytes of the longest name
}

func newDropList(entries []string) dropList {
	d := dropList{names: make(map[string]bool, len(entries))}
	for _, e := range entries {
		e = strings.ToLower(e)
		if prefix, ok := strings.CutSuffix(e, "*"); ok {
			d.prefixes = append(d.prefixes, prefix)
			continue
		}
		name, hex := strings.CutSuffix(e, "={hex}")
		d.names[name] = hex
		d.longest = max(d.longest, len(name))
	}
	return d
}

// has says whether a parameter, "name=value" or "name", goes.
func (d *dropList) has(param []byte) bool {
	name, value, _ := bytes.Cut(param, []byte{'='})
	for _, p := range d.prefixes {
		if len(name) >= len(p) && equalFold(name[:len(p)], p) {
			return true
		}
	}
	var arr [64]byte
	if len(name) > d.longest || len(name) > len(arr) {
		return false
	}
	hex, ok := d.names[string(appendLower(arr[:0], name))]
	return ok && (!hex || isHexToken(value))
}

// isHexToken says whether v looks like a session's name and like no word or number.
func isHexToken(v []byte) bool {
	for _, c := range v {
		if unhex(c) > 15 {
			return false
		}
	}
	return len(v) >= 16
}

// cutPathParams removes parameters like ";jsessionid=…" from the segment at dst[at:].
func (d *dropList) cutPathParams(dst []byte, at int) []byte {
	for i := at; i < len(dst); {
		if dst[i] != ';' {
			i++
			continue
		}
		end := i + 1
		for end < len(dst) && dst[end] != ';' {
			end++
		}
		if d.has(dst[i+1 : end]) {
			dst = append(dst[:i], dst[end:]...)
		} else {
			i = end
		}
	}
	return dst
}

// appendLower appends b with ASCII letters in lower case.
func appendLower(dst, b []byte) []byte {
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
