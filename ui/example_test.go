package ui_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"fossick/ui"
)

// A program asks for the stores, with the token of the address.
func ExampleOpen() {
	server, err := ui.Open(ui.Options{Addr: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	address, err := url.Parse(server.Address())
	if err != nil {
		fmt.Println(err)
		return
	}
	req, _ := http.NewRequest("GET", "http://"+server.Addr()+"/api/stores", nil)
	req.Header.Set("Authorization", "Bearer "+address.Query().Get("token"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Print(string(text))
	// Output: {"stores":[],"starts":false}
}
