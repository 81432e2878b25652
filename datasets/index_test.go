package datasets

import "testing"

func TestIndexFindsOtherSpellings(t *testing.T) {
	var x Index
	for row, key := range []string{
		"http://a.test/", "http://a.test/x/", "https://b.test/y", "http://c.test/p?PHPSESSID=7&q=1",
	} {
		if !x.Add(key, row) {
			t.Fatalf("%s is new and was not added", key)
		}
	}
	if x.Add("http://a.test/", 9) {
		t.Error("a repeated key was added")
	}
	for _, test := range []struct {
		key   string
		row   int
		moved string
		ok    bool
	}{
		{"http://a.test/", 0, "", true},
		{"https://a.test/", 0, "", true},
		{"http://a.test/x", 1, "http://a.test/x/", true},
		{"http://b.test/y", 2, "", true},
		{"http://b.test/y/", 2, "https://b.test/y", true},
		{"http://c.test/p?q=1", 3, "", true},
		{"http://c.test/p?q=2", 0, "", false},
		{"http://d.test/", 0, "", false},
	} {
		row, moved, ok := x.Find(test.key)
		if row != test.row || moved != test.moved || ok != test.ok {
			t.Errorf("Find(%s) = %d, %q, %v; want %d, %q, %v", test.key, row, moved, ok, test.row, test.moved, test.ok)
		}
	}
	var none Index
	if _, _, ok := none.Find("http://a.test/"); ok || none.Len() != 0 {
		t.Error("an empty index has something")
	}
}
