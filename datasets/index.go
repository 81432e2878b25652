package datasets

import (
	"maps"
	"slices"
	"strings"
)

// Index finds the page of a corpus that a URL asks for, however it is spelt, as
// the corpus served as a web does. Rows are numbered by the caller. The zero value
// is empty and ready; after the last Add it is safe for concurrent use.
type Index struct {
	rows  map[string]int    // by Key
	alias map[string]string // normal forms whose dropped parameters pages have → their keys
}

// Add enters a row by its Key; false when another row has it already.
func (x *Index) Add(key string, row int) bool {
	if x.rows == nil {
		x.rows, x.alias = map[string]int{}, map[string]string{}
	}
	if _, again := x.rows[key]; again {
		return false
	}
	x.rows[key] = row
	if short := URLKey(key); short != key {
		if _, taken := x.alias[short]; !taken {
			x.alias[short] = key
		}
	}
	return true
}

// Len returns the number of rows.
func (x *Index) Len() int { return len(x.rows) }

// Keys returns the rows' Keys, sorted.
func (x *Index) Keys() []string { return slices.Sorted(maps.Keys(x.rows)) }

// Row returns the row that was entered by a Key, spelt like that.
func (x *Index) Row(key string) (row int, ok bool) {
	row, ok = x.rows[key]
	return row, ok
}

// Find returns the row for a Key. A crawler may spell a page's URL otherwise than the
// corpus does: by the other scheme, or without a session id. Both get the page itself.
// Without or with the final slash it is sent on (moved is then where to), as real
// servers do.
func (x *Index) Find(key string) (row int, moved string, ok bool) {
	forms := [2]string{key, FlipScheme(key)}
	for _, k := range forms {
		if row, ok = x.rows[k]; ok {
			return row, "", true
		}
		if row, ok = x.rows[x.alias[k]]; ok {
			return row, "", true
		}
	}
	for _, k := range forms {
		other := flipSlash(k)
		if row, ok = x.rows[other]; ok {
			return row, other, true
		}
	}
	return 0, "", false
}

// FlipScheme makes http of https and the reverse.
func FlipScheme(key string) string {
	if rest, ok := strings.CutPrefix(key, "http://"); ok {
		return "https://" + rest
	}
	return "http://" + strings.TrimPrefix(key, "https://")
}

func flipSlash(key string) string {
	path, query, ok := strings.Cut(key, "?")
	if strings.Count(path, "/") == 3 && strings.HasSuffix(path, "/") {
		return key // the root has no other form
	}
	if cut, had := strings.CutSuffix(path, "/"); had {
		path = cut
	} else {
		path += "/"
	}
	if ok {
		path += "?" + query
	}
	return path
}
