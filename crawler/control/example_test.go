package control_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"fossick/crawler/control"
	"fossick/internal/page"
	"fossick/store"
)

// A crawl opens the socket; who has the name of its store asks it.
func Example() {
	dir, err := os.MkdirTemp("", "control-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(filepath.Join(dir, "bees"), store.Info{Topic: "bees"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	socket, err := control.Open(control.Options{Store: s, URLs: page.NewNormalizer(nil), Status: func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"topic": "bees"}`)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var status struct{ Topic string }
	err = control.Ask(context.Background(), s.Dir(), "/status", nil, &status, errors.New("a crawl has the store"))
	fmt.Println(status.Topic, err, socket.Close())
	// Output: bees <nil> <nil>
}
