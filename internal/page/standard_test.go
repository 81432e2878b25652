package page

import (
	"strings"
	"testing"
)

// TestBase: for which links a <base> holds (HTML standard, "document base URL").
func TestBase(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"before the base":          {"<a href=x></a><base href=http://b.test/y/>", "http://b.test/y/x"},
		"before and behind":        {"<a href=x></a><base href=/y/><a href=z></a>", "http://h.test/y/x http://h.test/y/z"},
		"the first counts":         {"<base href=http://b.test/><base href=http://c.test/><a href=x>", "http://b.test/x"},
		"the first is invalid":     {"<base href=http://[><base href=http://c.test/><a href=x>", "http://h.test/d/x"},
		"the first is a script":    {"<base href=javascript:x><base href=http://c.test/><a href=x>", "http://h.test/d/x"},
		"the first has no href":    {"<base target=_top><base href=http://c.test/><a href=x>", "http://c.test/x"},
		"in a picture":             {"<svg><base href=http://b.test/></svg><a href=x>", "http://h.test/d/x"},
		"in a template":            {"<template><base href=http://b.test/></template><a href=x>", "http://h.test/d/x"},
		"in a script":              {"<script>'<base href=http://b.test/>'</script><a href=x>", "http://h.test/d/x"},
		"in a comment":             {"<!--<base href=http://b.test/>--><a href=x>", "http://h.test/d/x"},
		"relative":                 {"<base href=../e/><a href=x>", "http://h.test/e/x"},
		"relative, behind another": {"<base href=e/><base href=f/><a href=x>", "http://h.test/d/e/x"},
		"a fragment before a base": {"<a href=#x></a><a href=x></a><base href=/e/>", "http://h.test/e/x"},
		"behind a canonical":       {"<link rel=canonical href=c><base href=/e/><a href=x>", "http://h.test/e/x"},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{URL: "http://h.test/d/"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range p.Links {
			got = append(got, l.URL)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", name, c.in, got, c.want)
		}
		if strings.Contains(c.in, "canonical") && p.Canonical != "http://h.test/e/c" {
			t.Errorf("%s: canonical %s", name, p.Canonical)
		}
	}
}

// TestParseRefresh: the HTML standard's shared declarative refresh steps.
func TestParseRefresh(t *testing.T) {
	for _, c := range []struct {
		in, target string
		seconds    int
		bad        bool
	}{
		{in: "1", seconds: 1}, {in: "1 ", seconds: 1}, {in: "1;", seconds: 1}, {in: "1,", seconds: 1}, {in: "1; url", seconds: 1, target: "url"},
		{in: "1;url=x", seconds: 1, target: "x"}, {in: "1,url=x", seconds: 1, target: "x"}, {in: "1 url=x", seconds: 1, target: "x"}, {in: "1 x", seconds: 1, target: "x"},
		{in: " \t1 ; \n URL \f = \r x", seconds: 1, target: "x"}, {in: "1;;url=x", seconds: 1, target: ";url=x"},
		{in: "1;url=x;y=z", seconds: 1, target: "x;y=z"}, {in: "1;x;y", seconds: 1, target: "x;y"}, {in: "1; url=x, y", seconds: 1, target: "x, y"},
		{in: "1;url='x'y", seconds: 1, target: "x"}, {in: `1;url="x`, seconds: 1, target: "x"}, {in: "1;'x'", seconds: 1, target: "x"}, {in: "1;url='x\"y'", seconds: 1, target: `x"y`},
		{in: "1;urlx", seconds: 1, target: "urlx"}, {in: "1;url x", seconds: 1, target: "url x"}, {in: "1;url=url=x", seconds: 1, target: "url=x"},
		{in: "0.9;x", target: "x"}, {in: ".5;x", target: "x"}, {in: "1.5.7;x", seconds: 1, target: "x"}, {in: ".", target: ""},
		{in: "99999999999999999999;x", seconds: 999999999, target: "x"},
		{in: "", bad: true}, {in: "x", bad: true}, {in: ";x", bad: true}, {in: "+0;x", bad: true}, {in: "-1;x", bad: true}, {in: "1e0;x", bad: true},
		{in: "1x", bad: true}, {in: "1:x", bad: true}, {in: "0x1;x", bad: true}, {in: "\v1;x", bad: true},
	} {
		seconds, target, ok := parseRefresh([]byte(c.in))
		if ok == c.bad || seconds != c.seconds || string(target) != c.target {
			t.Errorf("%q: %d s, %q, %v; want %d s, %q, %v", c.in, seconds, target, ok, c.seconds, c.target, !c.bad)
		}
	}
	p, err := Parse([]byte(`<meta http-equiv=refresh content=x><meta http-equiv=refresh content="0;/1"><meta http-equiv=refresh content="0;/2">`), ParseOptions{URL: "http://h.test/"})
	if err != nil || p.Refresh != "http://h.test/1" {
		t.Errorf("of several: %s, %v; want the first that can be read", p.Refresh, err)
	}
}

// TestShown: text and links that browsers show without scripts, and what they do not.
func TestShown(t *testing.T) {
	for name, c := range map[string]struct {
		in, text string
		links    int
	}{
		"an open shadow root":      {"<x-y><template shadowrootmode=open><p>in <a href=1>it</a></template>light</x-y>", "in it\nlight", 1},
		"a closed shadow root":     {"<x-y><template shadowrootmode=CLOSED>in</template></x-y>", "in", 0},
		"a template in one":        {"<x-y><template shadowrootmode=open>in<template>not</template> it</template></x-y>", "in it", 0},
		"one in a template":        {"<template><x-y><template shadowrootmode=open>not</template></x-y> not</template>yes", "yes", 0},
		"another word":             {"<template shadowrootmode=x>not <a href=1>it</a></template>yes", "yes", 0},
		"a template":               {"<template>not <a href=1>it</a></template>yes", "yes", 0},
		"a picture":                {"a<svg><text>not</text></svg>b", "ab", 0},
		"a picture not closed":     {"<table><tr><td><svg><td>yes</table>", "yes", 0},
		"closed by a row":          {"<table><tr><td><svg></tr><tr><td>yes</table>", "yes", 0},
		"closed by a cell's end":   {"<table><tr><td><svg></td> yes</table>", "yes", 0},
		"closed by a word in bold": {"<p><svg><b>yes</b> it is", "yes it is", 0},
		"closed by a block's end":  {"<div><svg></div>yes", "yes", 0},
		"a choice":                 {"a<select><option>not<optgroup><option>not</select>b", "a\nb", 0},
		"a choice not closed":      {"<table><tr><td><select><option>not<td>yes</table>", "yes", 0},
		"a list of proposals":      {"<table><tr><td><datalist><option>not<td>yes</table>", "yes", 0},
		"a template in a table":    {"<table><tr><template><td>not</td></template><td>yes</table>", "yes", 0},
	} {
		p, err := Parse([]byte(c.in), ParseOptions{URL: "http://h.test/"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(p.Text); got != c.text || len(p.Links) != c.links {
			t.Errorf("%s: %s\ngot  %q, %d links\nwant %q, %d", name, c.in, got, len(p.Links), c.text, c.links)
		}
	}
}
