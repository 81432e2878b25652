package main

import (
	"fmt"
	"math"
	"math/bits"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// countedPage is a stored page.
type countedPage struct {
	url, media, charset, lang, kinds string
	bytes, unseen, links             int64
}

// serverOf returns the server name that a host sends, with and without its version.
func serverOf(host string) (full, product string) {
	name, _, _ := strings.Cut(host, ":")
	full = []string{"nginx/1.24.0", "Apache/2.4.57 (Debian) OpenSSL/3.0", "Microsoft-IIS"}[len(name)%3]
	product, _, _ = strings.Cut(full, "/")
	return full, product
}

// header counts an answer whose header is stored. Answers over TLS bypass the handler that sends the
// server name.
func (w *webCount) header(address string) {
	w.add("http_versions", "http/1.1", "answers", 1)
	server := "not said"
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" {
		_, server = serverOf(u.Host)
	}
	w.add("servers", server, "answers", 1)
}

// settlePages counts the stored pages, and then computes the means by name.
func (w *webCount) settlePages() {
	type sums struct{ pages, bytes, links int64 }
	means := map[[2]string]*sums{}
	for _, p := range w.pages {
		label := "none"
		if e, err := w.row(p.url); err == nil && w.labels[e.URL] != "" {
			label = w.labels[e.URL]
		}
		for table, row := range map[string]any{
			"page_kinds": p.kinds, "sizes": p.bytes / (256 << 10) * 256, "sizes_fine": max(256, int64(1)<<bits.Len64(uint64(p.bytes))),
		} {
			w.add(table, row, "pages", 1)
		}
		for _, class := range []string{"all", sizeClass(p.bytes)} {
			w.add("compression", class, "pages", 1)
			w.add("compression", class, "bytes", float64(p.bytes))
		}
		scheme, _, _ := strings.Cut(p.url, "://")
		w.add("schemes", scheme, "stored", 1)
		w.places(p.url, "pages")
		tld, second, site := placesOf(p.url)
		for table, row := range map[string]string{
			"media_types": p.media, "charsets": p.charset, "languages": p.lang, "labels": label, "tlds": tld, "second_levels": second, "sites": site,
		} {
			if table == "labels" && w.labels == nil {
				continue
			}
			if table == "media_types" || table == "charsets" || table == "languages" || table == "labels" {
				w.add(table, row, "pages", 1)
			}
			of := means[[2]string{table, row}]
			if of == nil {
				of = &sums{}
				means[[2]string{table, row}] = of
			}
			of.pages, of.bytes, of.links = of.pages+1, of.bytes+p.bytes, of.links+p.links
		}
	}
	for at, of := range means {
		w.add(at[0], at[1], "bytes_per_page", math.Floor(float64(of.bytes)/float64(of.pages)+0.5))
		w.add(at[0], at[1], "links_per_page", float64(of.links)/float64(of.pages))
	}
}

// sizeClass returns the row of a page's size in the table of compression.
func sizeClass(bytes int64) string {
	for kib := int64(4); kib <= 256; kib *= 4 {
		if bytes < kib<<10 {
			return fmt.Sprintf("below %d KiB", kib)
		}
	}
	return "256 KiB and more"
}

func (w *webCount) settleSeeds() {
	for _, seed := range w.seeds {
		w.add("seed_outcomes", w.state[seed], "seeds", 1)
		w.add("seed_lengths", min(seedLength(seed)/5*5, 100), "number", 1)
		if u, err := url.Parse(seed); err == nil && w.want["host_labels"] != nil {
			w.add("host_labels", strings.Count(u.Hostname(), ".")+1, "seeds", 1)
		}
	}
}

// seedLength is a start page's length as in paper E: without the scheme and a slash that is all its path.
func seedLength(seed string) int64 {
	_, rest, _ := strings.Cut(seed, "://")
	if strings.Count(rest, "/") == 1 {
		rest = strings.TrimSuffix(rest, "/")
	}
	return int64(len(rest))
}

// lengths returns the numbers behind the table of means.
func (w *webCount) lengths(got statsTables) map[string][]int64 {
	all := map[string][]int64{}
	for _, seed := range w.seeds {
		all["seed length"] = append(all["seed length"], seedLength(seed))
	}
	for address := range w.state {
		_, rest, _ := strings.Cut(address, "://")
		_, path, _ := strings.Cut(rest, "/")
		all["path length"] = append(all["path length"], int64(len(path)))
		if w.got[address] {
			all["path, got"] = append(all["path, got"], int64(len(path)))
		}
	}
	if len(w.seeds) == 1 { // its party has every page
		all["pages a seed"] = []int64{int64(len(w.got))}
	}
	for _, p := range w.pages {
		all["page bytes"] = append(all["page bytes"], p.bytes)
		all["of it unseen"] = append(all["of it unseen"], min(p.unseen, p.bytes))
		all["page links"] = append(all["page links"], p.links)
	}
	if w.want["host_labels"] == nil {
		return all
	}
	for _, row := range got.rows(w.t, "host_labels") { // other code compares these numbers
		labels, hosts := row["labels"].(string), row["hosts"].(float64)
		if n, err := strconv.ParseInt(labels, 10, 64); err == nil { // an address has none
			all["host labels"] = append(all["host labels"], slices.Repeat([]int64{n}, int(hosts))...)
		}
	}
	return all
}

// compareMeans compares the rows of means with the numbers; quantiles above 4,096 may be 0.8 % too low.
func (w *webCount) compareMeans(got statsTables) {
	for name, all := range w.lengths(got) {
		slices.Sort(all)
		n, sum, squares := float64(len(all)), 0.0, 0.0
		for _, v := range all {
			sum += float64(v)
		}
		for _, v := range all {
			squares += (float64(v) - sum/n) * (float64(v) - sum/n)
		}
		at := func(share float64) float64 { return float64(all[max(0, int(math.Ceil(share*n))-1)]) }
		row := got.row(w.t, "means", name)
		for column, want := range map[string]float64{"n": n, "least": at(0), "mean": sum / n, "deviation": math.Sqrt(squares / n), "median": at(0.5), "p99": at(0.99), "most": at(1)} {
			low := want * (1 - 1e-9)
			if (column == "median" || column == "p99") && want > 4096 {
				low = math.Floor(want * (1 - 1./128))
			}
			if v, ok := row[column].(float64); !ok || v < low || v > want*(1+1e-9)+1e-9 {
				w.t.Errorf("means, %s: %s is %v, counted %v", name, column, row[column], want)
			}
		}
	}
}
