package badgerfiles

import (
	"testing"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

// BenchmarkCheckTable looks at a table of some 2 MiB, as each opening does with each.
func BenchmarkCheckTable(b *testing.B) {
	_, name, text := oneTable(b, func(path string) badger.Options { return smallTables(path).WithMemTableSize(64 << 20) }, 15_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		var err error
		buf, err = readFile(name, buf)
		must(b, err)
		if _, err := checkTable(buf, badgeroptions.None); err != nil {
			b.Fatal(err)
		}
	}
}
