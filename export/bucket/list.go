package bucket

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"fossick/internal/fileio"
)

// listName is the object that lists the others and is written last: JSON, one object a line, by name.
const listName = "_export.json"

// markName is the object that marks everything below the prefix as an unfinished export.
const markName = "_export-unfinished.txt"

const markText = "An export is being written here, or was interrupted. The next export to this place removes all objects below it.\n"

// entry describes an object of an export.
type entry struct {
	name  string
	bytes int64
	sum   string // SHA-256 in hex
	tag   string // ETag; "" for unknown
}

// list holds all objects of an export, sorted by name. Safe for concurrent use.
type list struct {
	mu      sync.Mutex // guards the sorter
	entries *fileio.Sorter[entry]
}

func newList() *list {
	return &list{entries: fileio.NewSorter(fileio.SortOptions[entry]{
		Limit:   1 << 16, // about 15 MB
		Compare: func(a, b entry) int { return cmp.Compare(a.name, b.name) },
		Append: func(dst []byte, _, e entry) []byte {
			return fmt.Appendf(dst, "%s\t%d\t%s\t%s\n", e.name, e.bytes, e.sum, e.tag)
		},
		Read: func(r *bufio.Reader, _ entry) (e entry, err error) {
			line, err := r.ReadString('\n')
			if err != nil {
				return e, err
			}
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			e.name, e.sum, e.tag = fields[0], fields[2], fields[3]
			_, err = fmt.Sscan(fields[1], &e.bytes)
			return e, err
		},
	})}
}

func (l *list) add(e entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries.Add(e)
}

func (l *list) close() error { return l.entries.Close() }

// write writes the list reproducibly.
func (l *list) write(ctx context.Context, w io.Writer) error {
	to := bufio.NewWriter(w)
	before := "{\"version\":1,\"files\":[\n"
	err := l.entries.Each(ctx, func(e entry) error {
		name, err := json.Marshal(e.name)
		if err == nil {
			_, err = fmt.Fprintf(to, "%s{\"name\":%s,\"bytes\":%d,\"sha256\":%q}", before, name, e.bytes, e.sum)
		}
		before = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	if before[0] == '{' { // the list is empty
		to.WriteString(before)
	}
	to.WriteString("\n]}\n")
	return to.Flush()
}

// check compares the list with the objects below the prefix on the server.
func (l *list) check(ctx context.Context, c *client, prefix string) error {
	both := newList() // sorts the server's listing, which may be unordered
	defer both.close()
	if err := l.entries.Each(ctx, both.add); err != nil {
		return err
	}
	for o, err := range c.below(ctx, prefix) {
		if err != nil {
			return err
		}
		if name := o.Key[len(prefix):]; name != listName && name != markName {
			if err := both.add(entry{name: name, bytes: o.Size, tag: o.ETag}); err != nil {
				return err
			}
		}
	}
	changed := fmt.Errorf("%s: the objects there differ from those of this export; check that no one else writes there, and run the export again", address{c.bucket, prefix})
	var first *entry // of a pair with one name
	err := both.entries.Each(ctx, func(e entry) error {
		if first == nil {
			first = &e
			return nil
		}
		same := first.name == e.name && first.bytes == e.bytes && (first.tag == "" || e.tag == "" || first.tag == e.tag)
		if first = nil; !same {
			return changed
		}
		return nil
	})
	if err == nil && first != nil {
		err = changed
	}
	return err
}
