package maintext

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// articlePage has all the furniture that sites put around a text.
const articlePage = `<html><head><title>Ants carry leaves | The Daily Burrow</title></head><body class="has-sidebar">
<header class="site-header"><a href="/">The Daily Burrow</a>
<nav><ul><li><a href="/world">World</a></li><li><a href="/science">Science</a></li><li><a href="/sport">Sport</a></li></ul></nav></header>
<div class="cookie-consent">We use cookies to improve your visit. <button>Accept</button></div>
<main><articlePage><h1>Ants carry leaves</h1><div class="byline">By A. Writer, 3 May</div>
<div class="entry-content"><p>Leafcutter ants carry pieces of leaves that weigh many times what they do, and they walk with them for hours, along paths that they keep clean.</p>
<p>They do not eat the leaves. A fungus grows on them in chambers below the ground, and the <em>fungus</em> is what the ants live on, as <a href="/science/fungus">was found in 1874</a>.</p>
<h2>What it takes</h2>
<ul><li>a queen, who lives for <strong>ten years</strong> or more;</li><li>some five million workers, in four sizes.</li></ul>
<table><tr><th>size</th><th>work</th></tr><tr><td>small</td><td>the garden</td></tr><tr><td>large</td><td>leaves | defence</td></tr></table>
<pre>ants := 5_000_000
	leaves := ants / 7</pre>
<p>The nest is as large as a house. It was measured with forty tonnes of cement, which nobody has done since, as it took two weeks to dry.</p></div></articlePage></main>
<aside class="sidebar related"><h3>Related</h3><ul><li><a href="/a">Bees that dance, and why they do</a></li><li><a href="/b">Termites build towers that breathe</a></li></ul></aside>
<footer><p>© The Daily Burrow. All rights reserved. <a href="/privacy">Privacy</a></p></footer></body></html>`

func TestMainText(t *testing.T) {
	m := Extract([]byte(articlePage))
	text := m.Text()
	for _, want := range []string{"Leafcutter ants", "lives for ten years", "as large as a house", "leaves := ants / 7"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing from\n%s", want, text)
		}
	}
	for _, not := range []string{"cookies", "Sport", "Termites", "All rights", "Privacy"} {
		if strings.Contains(text, not) {
			t.Errorf("%q is no main text, but in\n%s", not, text)
		}
	}
}

// all chooses every block, to test Markdown without the forests.
func all(page string) *Main {
	m := Extract([]byte(page))
	for i := range m.chosen {
		m.chosen[i] = true
	}
	return m
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"paragraphs", "<p>One <b>two</b> <i>three </i>four<p>Five", "One **two** *three* four\n\nFive\n"},
		{"headings", "<h1>A</h1><h3>B <b>c</b></h3><p>d", "# A\n\n### B c\n\nd\n"},
		{"links", `<p><a href="/x (1)">a <b>b</b></a>, <a href="mailto:x">c</a>`, "[a **b**](http://h/x%20%281%29), c\n"},
		{"a place of its own", `<h2>Name<a href="#name">¶</a></h2>`, "## Name\n"},
		{"code", "<p>Use <code>a*b</code> or a*b", "Use `a*b` or a\\*b\n"},
		{"kept white space", "<pre>if a {\n\tb(\"```\")\n}</pre>", "````\nif a {\n\tb(\"```\")\n}\n````\n"},
		{"lists", "<ul><li>a<li>b<ol><li>c<li>d</ol></ul><p>e", "- a\n- b\n  1. c\n  2. d\n\ne\n"},
		{"two paragraphs of an item", "<ul><li><p>a<p>b<li>c</ul>", "- a\n  b\n- c\n"},
		{"quotations", "<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc\n"},
		{"tables", "<table><tr><th>a<th>b|c<tr><td>d<td><p>e<p>f<tr><td>g</table>h", "| a | b\\|c |\n| --- | --- |\n| d | e f |\n| g |  |\n\nh\n"},
		{"tables that lay out", "<table><tr><td><ul><li>a</ul><td>b</table>", "- a\n\nb\n"},
		{"what a line may begin with", "<p># a<p>1. b<p>- c<p>1.5 d", "\\# a\n\n1\\. b\n\n\\- c\n\n1.5 d\n"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := all(c.page).Markdown(func(href string) string {
				if strings.HasPrefix(href, "/") {
					return "http://h" + href
				}
				return ""
			})
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestHostile: allocation is linear in the page. (maxOpen bounds searches upwards from an element.)
func TestHostile(t *testing.T) {
	for name, piece := range map[string]string{
		"open elements": "<div>", "open items": "<ul><li>", "layout": "<table><tr><td><ul><li>a</ul>", "cells": "<td>a",
		"open links": `<a href="#x">`, "ends": "</td></div>", "marks": "<b><i>a", "names": `<p class="articlebody articlebody">a`,
		"quotes": `<a title="`, "attributes": "<a " + strings.Repeat("b ", 1000) + ">",
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(size int) uint64 {
				page := "<table><tr>" + strings.Repeat(piece, size/len(piece))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				m := all(page)
				_ = m.Text() + m.Markdown(func(h string) string { return h })
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			allocated(64 << 10) // one-time allocations
			small := allocated(64 << 10)
			if large := allocated(1 << 20); large > 16*2*small+1<<20 {
				t.Errorf("16 times the page allocates %d bytes, the page %d", large, small)
			}
		})
	}
}

// FuzzExtract: the text is valid and in page order, and Markdown terminates.
func FuzzExtract(f *testing.F) {
	f.Add([]byte(articlePage))
	f.Add([]byte("<table><td><pre><li><blockquote><a href=#>\xff&#0;"))
	f.Fuzz(func(t *testing.T, page []byte) {
		page = bytes.ToValidUTF8(page, []byte("?"))
		m := all(string(page))
		if text := m.Text(); !utf8.ValidString(text) {
			t.Errorf("not UTF-8: %q", text)
		}
		if text := m.Markdown(func(h string) string { return h }); !utf8.ValidString(text) {
			t.Errorf("not UTF-8: %q", text)
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	page := []byte(strings.Replace(articlePage, "<p>The nest", strings.Repeat("<p>The nest is as large as a house, and it was measured with cement.</p>", 250)+"<p>The nest", 1))
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		_ = Extract(page).Text()
	}
}
