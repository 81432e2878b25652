package tables_test

import (
	"context"
	"fmt"

	"fossick/eval/change/tables"
	"fossick/store/change"
)

func Example() {
	const day = 24 * 3600 * 1000
	pages := func(yield func(*tables.Page, error) bool) {
		yield(&tables.Page{URL: "http://news.example.kr/", Visits: []change.Visit{
			{At: 1 * day, State: "ok"}, {At: 3 * day, State: "ok", Change: change.Text}, {At: 5 * day, State: "not_modified"},
		}}, nil)
	}
	r, err := tables.Count(context.Background(), tables.Options{}, pages)
	if err != nil {
		panic(err)
	}
	fmt.Println(r.TLD[0].Name, "changes every", *r.TLD[0].ChangeInterval, "days")
	// Output: kr changes every 4 days
}
