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
func (v *victim) farm() bool {
	host := hostName(v.q.host)
	if !strings.HasSuffix(host, farmSuffix) {
		return false
	}
	v.mark("host-farm")
	if v.q.path != "/" {
		problem(v.rw, http.StatusNotFound, "a farm has home pages only")
		return true
	}
	var names []string
	for i := range 5 {
		names = append(names, "http://"+v.web.draw.letters("farm", host+strconv.Itoa(i))+farmSuffix+"/")
	}
	v.html(append(links("Welcome to "+host, names), "<p>You will find all that you want here, and more.\n"...))
	return true
}
