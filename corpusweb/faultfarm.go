package corpusweb

import (
	"net/http"
	"strconv"
	"strings"
)

// farmSuffix ends the names that host-farm makes up: whoever asks for one gets a
// page like all the others, with links to more.
const farmSuffix = ".host-farm.example"

// farm answers for a made-up name; false when the host is none.
func (w *Web) farm(rw http.ResponseWriter, r *http.Request, q request) bool {
	host := hostName(q.host)
	if !strings.HasSuffix(host, farmSuffix) {
		return false
	}
	if c, ok := rw.(*counted); ok {
		c.fault = "host-farm"
	}
	if q.path != "/" {
		problem(rw, http.StatusNotFound, "a farm has home pages only")
		return true
	}
	v := &victim{web: w, rw: rw, r: r, q: q}
	var names []string
	for i := range 5 {
		names = append(names, "http://"+v.web.madeName(host+strconv.Itoa(i))+farmSuffix+"/")
	}
	v.html(append(links("Welcome to "+host, names), "<p>You will find all that you want here, and more.\n"...))
	return true
}

// madeName makes up a name of seven letters, always the same of a text.
func (w *Web) madeName(text string) string {
	n := uint64(w.uniform("farm", text) * 8_031_810_176) // 26⁷
	name := make([]byte, 7)
	for i := range name {
		name[i] = byte('a' + n%26)
		n /= 26
	}
	return string(name)
}
