package warc_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"time"

	"fossick/warc"
)

// A record is written as a gzip member, and read again.
func Example() {
	member, err := warc.NewPacker().Append(nil, &warc.Draft{
		Type: warc.Response, ID: "urn:uuid:8c6f2f7a-0000-8000-8000-000000000001",
		Target: "http://example.org/", Date: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC),
		ContentType: "application/http; msgtype=response",
		Head:        []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), Payload: []byte("<title>A page</title>"),
	})
	if err != nil {
		log.Fatal(err)
	}
	r, err := warc.NewReader(bytes.NewReader(member))
	if err != nil {
		log.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err) // or go on: Next looks behind the damage
		}
		http, err := warc.ReadHTTP(rec.Body, 1<<20)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Type(), rec.Target(), http.Status, string(http.Body))
	}
	// Output: response http://example.org/ 200 <title>A page</title>
}
