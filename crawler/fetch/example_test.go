package fetch_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"fossick/crawler/fetch"
)

// An exchange with a server on loopback, which the guard refuses unless it is allowed.
func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<p>gold")
	}))
	defer srv.Close()
	for _, nets := range [][]netip.Prefix{nil, {netip.MustParsePrefix("127.0.0.0/8")}} {
		f, err := fetch.New(fetch.Options{AllowNet: nets})
		if err != nil {
			fmt.Println(err)
			return
		}
		resp := f.Fetch(context.Background(), fetch.Request{URL: srv.URL + "/"})
		fmt.Printf("%s %d %q\n", resp.State, resp.Code, resp.Body)
		f.Close()
	}
	// Output:
	// guard_denied 0 ""
	// ok 200 "<p>gold"
}
