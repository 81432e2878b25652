package rights

import (
	"net/http"
	"strings"
)

// headers are the fields of an answer that say something, beside X-Robots-Tag.
var headers = []string{"Content-Signal", "Content-Usage", "Tdm-Reservation", "Tdm-Policy"}

// mostHeaders bounds what one answer may say.
const mostHeaders = 16

// OfHeader are the statements of an answer's header, without X-Robots-Tag, whose lines may
// be for other robots (package page reads those).
func OfHeader(h http.Header) (said []Statement) {
	for _, name := range headers {
		for _, value := range h[name] {
			if value = strings.TrimSpace(value); value != "" && len(said) < mostHeaders {
				said = append(said, Said("header", name, value))
			}
		}
	}
	return said
}
