package crawler

import (
	"reflect"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

func sample() Parcel {
	return Parcel{
		From: "http://a.test/", Via: store.ViaLink, Depth: 3, Hops: 1, Value: .25, Label: "bees", Sure: .75, On: true, Lang: "en", Of: 9, Introduction: []byte{1},
		For:   []store.Verdict{{Score: .5, Relevant: true}},
		Links: []Link{{URL: "http://b.test/x", Score: .5, Anchor: "honey\xff", Context: "of bees", Lang: "de", Kind: page.Anchor, Nav: true, Place: 8}, {URL: "http://b.test/", Modified: 7}},
	}
}

func TestPack(t *testing.T) {
	p := sample()
	data := p.Pack()
	got, err := unpack(data)
	if err != nil || !reflect.DeepEqual(*got, p) {
		t.Errorf("%+v, %v", got, err)
	}
	html := got.page()
	if html.URL != p.From || len(html.Links) != 2 || html.Links[0].Anchor != "honey\xff" || html.Links[0].Context != "of bees" || !html.Links[0].Nav {
		t.Errorf("%+v", html)
	}
	if place, of := html.Place(0); place != 8 || of != 9 || len(html.Excerpt.Introduction) != 1 {
		t.Errorf("at %d of %d, %+v", place, of, html.Excerpt)
	}
}

func TestUnpackRefuses(t *testing.T) {
	for _, spoil := range []func(p *Parcel){
		func(p *Parcel) { p.Depth = -1 },
		func(p *Parcel) { p.Value = 2 },
		func(p *Parcel) { p.Sure = -.1 },
		func(p *Parcel) { p.Links[1].URL = "" },
		func(p *Parcel) { p.Links[1].Score = 1.5 },
		func(p *Parcel) { p.Links[0].Place = 9 },
		func(p *Parcel) { p.Of = mostLinks + 1 },
	} {
		p := sample()
		spoil(&p)
		data := p.Pack()
		if _, err := unpack(data); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
}

// FuzzUnpack: any input is a parcel or an error.
func FuzzUnpack(f *testing.F) {
	p := sample()
	f.Add(p.Pack())
	f.Add([]byte{0xa0})
	p = Parcel{Contents: []content{{Say: contentGone, Checksum: make([]byte, 16), URL: "http://a.test/", Other: "http://b.test/"}}}
	f.Add(p.Pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := unpack(data)
		if err != nil {
			return
		}
		again := p.Pack()
		q, err := unpack(again)
		if err != nil || len(q.Links) != len(p.Links) || len(q.Contents) != len(p.Contents) || len(p.page().Links) != len(p.Links) {
			t.Fatalf("%+v becomes %+v, %v", p, q, err)
		}
	})
}

// TestContent: invalid messages about contents are refused, and of two URLs exactly one is
// preferred.
func TestContent(t *testing.T) {
	sum := make([]byte, len(page.Checksum{}))
	for _, c := range []struct {
		content content
		right   bool
	}{
		{content{Checksum: sum, URL: "http://a.test/"}, true},
		{content{Checksum: sum, URL: "http://a.test/", Other: "http://b.test/"}, false},
		{content{Checksum: sum}, false},
		{content{Checksum: sum[1:], URL: "http://a.test/"}, false},
		{content{Say: contentAsked, Checksum: sum, URL: "http://a.test/", Other: "http://b.test/"}, true},
		{content{Say: contentAsked, Checksum: sum, URL: "http://a.test/"}, false},
		{content{Say: contentDuplicate, Checksum: sum, URL: "http://a.test/", Other: "http://a.test/"}, false},
		{content{Say: contentGone, Checksum: sum, URL: "http://a.test/", Other: "http://b.test/"}, true},
		{content{Say: contentSays, Checksum: sum, URL: "http://a.test/", Other: "http://b.test/"}, false},
	} {
		data := (&Parcel{Contents: []content{c.content}}).Pack()
		if p, err := unpack(data); (err == nil) != c.right || c.right && !reflect.DeepEqual(p.Contents[0], c.content) {
			t.Errorf("%+v: %+v, %v", c.content, p, err)
		}
	}
	urls := []string{"http://a.test/", "http://b.test/", "http://a.test/?id=7", "http://a.test/?id=8", "https://a.test/"}
	for _, a := range urls {
		for _, b := range urls {
			if preferred(a, b) == preferred(b, a) && a != b || preferred(a, a) {
				t.Errorf("%s and %s: %v, %v", a, b, preferred(a, b), preferred(b, a))
			}
			for _, c := range urls {
				if preferred(a, b) && preferred(b, c) && !preferred(a, c) {
					t.Errorf("%s before %s before %s", a, b, c)
				}
			}
		}
	}
}

// evenParts owns every other part.
type evenParts struct{ alone }

func (evenParts) Part(url string) uint16   { return uint16(len(url)) }
func (evenParts) PartOf(sum []byte) uint16 { return uint16(sum[0]) }
func (evenParts) Mine(part uint16) bool    { return part%2 == 0 }
func (evenParts) Held(part uint16) bool    { return part%2 == 0 }
func (evenParts) Ours(part uint16) bool    { return part%2 == 0 }

// TestPost: only links to other agents' sites are sent, in bounded parcels, a bounded number per
// URL.
func TestPost(t *testing.T) {
	p := newOutgoing(evenParts{})
	if p.Take("http://b.test/12", nil, 0, .5, 0) {
		t.Error("a link of our own went across")
	}
	long := &page.Link{URL: "http://b.test/1", Context: strings.Repeat("x", 5000)}
	for i := range 200 {
		if !p.Take("http://b.test/1"+strings.Repeat("0", 2*i), long, 0, .5, 0) {
			t.Fatal("a link of another's did not go across")
		}
	}
	links, parcels := 0, 0
	count := func(part uint16, data []byte) error {
		got, err := unpack(data)
		if err != nil {
			return err
		}
		if len(data) > 2*parcelBytes || part%2 == 0 || got.From != "f" {
			t.Errorf("%d bytes for part %d from %q", len(data), part, got.From)
		}
		parcels++
		links += len(got.Links)
		return nil
	}
	if err := p.dispatch(Parcel{From: "f"}, count); err != nil || links != 200 || parcels != 200 {
		t.Errorf("%d links in %d parcels, %v", links, parcels, err)
	}
	links = 0
	for range 3 * manyTold {
		if !p.Take("http://c.test/1", nil, 0, .5, 0) {
			t.Fatal("a link of another's did not go across")
		}
	}
	if err := p.dispatch(Parcel{From: "f"}, count); err != nil || links != manyTold {
		t.Errorf("%d links to one URL, %v", links, err)
	}
	if err := p.dispatch(Parcel{From: "f"}, count); err != nil || links != manyTold {
		t.Errorf("what went across goes again: %d, %v", links, err)
	}
	links = 0
	p.Onward(true)
	for range 3 * manyTold { // each time in a parcel that is trimmed now
		p.Take("http://c.test/1", nil, 0, .5, 0)
	}
	p.Onward(false)
	if err := p.dispatch(Parcel{From: "f"}, count); err != nil || links != 3*manyTold {
		t.Errorf("of %d links that came in parcels %d went on, %v", 3*manyTold, links, err)
	}
}

// TestBounds: oversized fields and impossible host names are refused with a short error.
func TestBounds(t *testing.T) {
	class := testkit.Tries(t, "fields of messages")
	long, url := strings.Repeat("x", 70_000), "http://a.test/"
	link := func(change func(l *Link)) *Parcel {
		l := Link{URL: url}
		change(&l)
		return &Parcel{Links: []Link{l}}
	}
	known := func(change func(k *knownURL)) *Parcel {
		k := knownURL{URL: url}
		change(&k)
		return &Parcel{Known: []knownURL{k}}
	}
	sum := make([]byte, len(page.Checksum{}))
	for name, p := range map[string]*Parcel{
		"from": {From: long}, "label": {Label: long}, "lang": {Lang: long}, "agent": {Agent: long}, "introduction": {Introduction: make([]byte, 70_000)}, "verdict": {For: []store.Verdict{{Rule: long}}},
		"link": link(func(l *Link) { l.URL = "http://a.test/" + long }), "link's host": link(func(l *Link) { l.URL = "http://" + long + "/" }), "no URL": link(func(l *Link) { l.URL = "garbage" }),
		"no host": link(func(l *Link) { l.URL = "http:///" }), "not normal": link(func(l *Link) { l.URL = "HTTP://A.test/#x" }), "a file": link(func(l *Link) { l.URL = "file:///etc/passwd" }), "anchor": link(func(l *Link) { l.Anchor = long }), "context": link(func(l *Link) { l.Context = long }),
		"known": known(func(k *knownURL) { k.URL += long }), "state": known(func(k *knownURL) { k.State = long }), "sum": known(func(k *knownURL) { k.Checksum = []byte(long) }), "also": known(func(k *knownURL) { k.Also = make([]float64, 70_000) }),
		"rest": {Rests: []rest{{Host: long}}}, "no rest": {Rests: []rest{{Host: ""}}}, "rest of a path": {Rests: []rest{{Host: "a/b"}}}, "rest with a zero": {Rests: []rest{{Host: "a\x00b"}}}, "rest for": {Rests: []rest{{Host: "a.test:80", For: long}}},
		"content": {Contents: []content{{Checksum: sum, URL: url + long}}}, "other": {Contents: []content{{Say: contentAsked, Checksum: sum, URL: url, Other: "x"}}},
		"address": {Addresses: []addressNotice{{Addr: long, Parts: []uint16{1}}}}, "zone": {Addresses: []addressNotice{{Addr: "fe80::1%" + long, Parts: []uint16{1}}}}, "site": {Addresses: []addressNotice{{Addr: "127.0.0.1", Parts: []uint16{1}, Site: long}}},
	} {
		_, err := unpack(p.Pack())
		class.Try(err != nil && len(err.Error()) < 1000, "%s: %.300v", name, err)
	}
	for name, l := range map[string]*label{"URL": {URL: url + long}, "no URL": {URL: "x"}, "title": {URL: url, Title: long}, "text": {URL: url, Text: long}, "lang": {URL: url, Lang: long}} {
		_, err := unpackLabel(l.pack())
		class.Try(err != nil && len(err.Error()) < 1000, "label, %s: %.300v", name, err)
	}
	whole := known(func(k *knownURL) { k.Checksum, k.Raw, k.Also = sum, sum, []float64{1, 2} })
	if p, err := unpack(whole.Pack()); err != nil || len(p.Known[0].Raw) != len(sum) || len(p.Known[0].Also) != 2 {
		t.Errorf("%+v, %v: a field is lost on its way", p, err)
	}
}
