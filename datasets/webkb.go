package datasets

import (
	"bytes"
	"errors"
	"net/textproto"
	"path/filepath"
	"regexp"
	"strings"
)

// readWebKB reads the original layout of the 4 Universities data set:
// class/university/URL, with ^ for / in the URL, and the server's MIME header
// before the page. Site is the university. The header is cut, for it names server
// and date; pages got by ftp have none.
func readWebKB(dir string, classes []string) reader {
	return func(rep *Report, yield func(*Example, error) bool) {
		eachClass(rep, dir, "", classes, yield, func(path, rel string) (*Example, error) {
			return webKBPage(rep, filepath.ToSlash(rel), path)
		})
	}
}

func webKBPage(rep *Report, rel, path string) (*Example, error) {
	e, err := webKBName(rel)
	if err != nil {
		return nil, err
	}
	body, err := readFile(path)
	if err != nil {
		return nil, err
	}
	header, body := cutHeader(body)
	s := decode(rep, path, body)
	if header != nil && strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		e.Text = s
	} else {
		e.HTML = s
	}
	e.File = path
	return e, nil
}

// webKBName reads class/university/URL.
func webKBName(rel string) (*Example, error) {
	parts := strings.Split(rel, "/")
	if len(parts) != 3 {
		return nil, errors.New("want class/university/URL, the URL with ^ for /")
	}
	url := strings.ReplaceAll(parts[2], "^", "/")
	if !strings.Contains(url, "://") {
		return nil, errors.New("its name is not a URL with ^ for /, such as http:^^cs.cornell.edu^info.html")
	}
	return &Example{
		URL: url, Label: parts[0], Labels: []string{parts[0]}, Site: parts[1],
		Fields: map[string]string{"file": rel},
	}, nil
}

var headerLine = regexp.MustCompile(`^(HTTP/[0-9.]+ |[A-Za-z][A-Za-z0-9-]*:)`)

// maxHeaderBytes is far above any real header; past it the file has none.
const maxHeaderBytes = 16 << 10

// cutHeader splits a stored response into its MIME header, nil when there is
// none, and its body. Every line up to the first empty one must look like a
// header's, so that a page's own first lines are never cut.
func cutHeader(body []byte) (textproto.MIMEHeader, []byte) {
	h := textproto.MIMEHeader{}
	rest := body
	for len(body)-len(rest) < maxHeaderBytes {
		line, next, ok := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		switch {
		case !ok:
			return nil, body
		case len(line) == 0 && len(h) > 0:
			return h, next
		case len(h) > 0 && (line[0] == ' ' || line[0] == '\t'): // continued
		case !headerLine.Match(line):
			return nil, body
		default:
			name, value, _ := strings.Cut(string(line), ":")
			h.Set(name, strings.TrimSpace(value))
		}
		rest = next
	}
	return nil, body
}
