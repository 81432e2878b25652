package datasets

import "testing"

func TestExamplePage(t *testing.T) {
	markup := `<meta charset=iso-8859-1><title>naïve</title><p>text <a href=/rel>rel</a> <a href=http://b.test/abs>abs</a>`
	tests := []struct {
		name             string
		e                Example
		url, title, text string
		links            int
	}{
		{"markup", Example{URL: "HTTP://A.test", HTML: markup}, "http://a.test/", "naïve", "text rel abs", 2},
		{"by ftp", Example{URL: "ftp://a.test/x", HTML: markup}, "ftp://a.test/x", "naïve", "text rel abs", 1},
		{"no URL at all", Example{URL: "a page", HTML: markup}, "a page", "naïve", "text rel abs", 1},
		{"text", Example{URL: "http://a.test/", Title: "T", Text: "a <b> c"}, "http://a.test/", "T", "a <b> c", 0},
		{"nothing", Example{URL: "http://a.test/"}, "http://a.test/", "", "", 0},
	}
	for _, tt := range tests {
		p, err := tt.e.Page()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if p.URL != tt.url || p.Title != tt.title || p.Text != tt.text || len(p.Links) != tt.links {
			t.Errorf("%s: url %q, title %q, text %q, %d links; want %q, %q, %q, %d",
				tt.name, p.URL, p.Title, p.Text, len(p.Links), tt.url, tt.title, tt.text, tt.links)
		}
	}
}
