package fetch

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestReservations(t *testing.T) {
	for _, c := range []struct{ file, path, want, err string }{
		{`[{"location":"/","tdm-reservation":1}]`, "/p", "[[tdm-reservation 1]]", ""},
		{`[{"location":"/a","tdm-reservation":1}]`, "/p", "[]", ""},
		{"\ufeff" + `[{"location":"/a/","tdm-reservation":1,"tdm-policy":"https://a.test/p"},{"location":"/","tdm-reservation":0}]`, "/a/b", "[[tdm-reservation 1] [tdm-policy https://a.test/p]]", ""},
		{`[{"location":"/","tdm-reservation":1},{"location":"/free/","tdm-reservation":0}]`, "/free/b", "[[tdm-reservation 0]]", ""},
		{`[{"location":"/*.pdf$","tdm-reservation":1}]`, "/a/b.pdf", "[[tdm-reservation 1]]", ""},
		{`[{"location":"/*.pdf$","tdm-reservation":1}]`, "/a/b.pdf?x", "[]", ""},
		{`[{"location":"/p","tdm-reservation":0},{"location":"/p","tdm-reservation":"1"}]`, "/p", "[[tdm-reservation 1]]", ""},
		{`[{"location":"p","tdm-reservation":1}]`, "/p", "[[tdm-reservation 1]]", ""},
		{`[{"location":"/%7Eme","tdm-reservation":1}]`, "/~me", "[[tdm-reservation 1]]", ""},
		{`[7,{"location":8,"tdm-reservation":1},{"location":"/"},{"location":"/","tdm-reservation":2},{"location":"/p","tdm-reservation":1}]`, "/p", "[[tdm-reservation 1]]", ""},
		{`[]`, "/p", "[]", ""},
		{`[{"location":"/","tdm-reservation":1},{"loc`, "/p", "[[tdm-reservation 1]]", "byte 38"},
		{`{"location":"/","tdm-reservation":1}`, "/p", "[]", "byte 1"},
		{`<html>not found`, "/p", "[]", "not an array"},
		{``, "/p", "[]", "not an array"},
		{"[" + strings.Repeat(`{"location":"/x","tdm-reservation":1},`, maxReservations) + `{"location":"/","tdm-reservation":1}]`, "/p", "[]", "too long"},
	} {
		r, err := ParseReservations([]byte(c.file))
		if got := fmt.Sprint(r.Said(c.path)); got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.200s says of %s: %s, %v; want %s, %q", c.file, c.path, got, err, c.want, c.err)
		}
	}
}

// FuzzReservations: parsed reservations survive writing and parsing.
func FuzzReservations(f *testing.F) {
	f.Add([]byte(`[{"location":"/a*b$","tdm-reservation":1,"tdm-policy":"https://a.test/"},{"location":"/","tdm-reservation":0}]`), "/axb")
	f.Add([]byte(`[{"location":"*","tdm-reservation":"1"},{`), "/")
	f.Fuzz(func(t *testing.T, file []byte, path string) {
		r, _ := ParseReservations(file)
		text, err := r.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseReservations(text)
		if err != nil {
			t.Fatalf("%q, written as %q: %v", file, text, err)
		}
		if !reflect.DeepEqual(again.Said(path), r.Said(path)) {
			t.Errorf("%q, written as %q, says of %q: %v, before %v", file, text, path, again.Said(path), r.Said(path))
		}
		if twice, err := again.MarshalText(); err != nil || !bytes.Equal(twice, text) {
			t.Errorf("written as %q, then as %q, %v", text, twice, err)
		}
	})
}
