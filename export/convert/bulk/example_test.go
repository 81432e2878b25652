package bulk_test

import (
	"bytes"
	"fmt"

	"fossick/export/convert/bulk"
)

// A table of one row.
func Example() {
	t := bulk.Table{Name: "places", Key: []string{"id"}, Columns: []bulk.Column{{Name: "id", Kind: bulk.Int}, {Name: "name", Kind: bulk.Text, Null: true}}}
	var file bytes.Buffer
	w := bulk.NewWriter(&file, t)
	w.Int(1)
	w.Text("Delft")
	fmt.Println(w.Close(), t.File(), file.Len())
	fmt.Print(bulk.Schema([]bulk.Table{t}))
	// Output:
	// <nil> places.copy 44
	// CREATE TABLE places (
	//     id bigint NOT NULL,
	//     name text
	// );
}
