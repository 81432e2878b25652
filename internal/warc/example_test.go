package warc_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"time"

	"fossick/internal/warc"
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

// memory is a file that is kept nowhere.
type memory struct{ bytes.Buffer }

func (*memory) Close() error { return nil }

// Records go into files of bounded size; an index notes where.
func ExampleFiles() {
	packer := warc.NewPacker()
	files := warc.NewFiles(warc.FilesOptions{Prefix: "crawl", Create: func(string) (io.WriteCloser, error) { return &memory{}, nil }})
	page := []byte("<title>A page</title>")
	member, err := packer.Append(nil, &warc.Draft{Type: warc.Resource, ID: "urn:uuid:8c6f2f7a-0000-8000-8000-000000000002", Target: "http://example.org/", Payload: page})
	if err != nil {
		log.Fatal(err)
	}
	name, offset, err := files.Write(member)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(name, offset, warc.Digest(page))
	if err := files.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: crawl-00001.warc.gz 0 sha1:HPGRMX5RILHHKCGGRPIING6TJDTJGVEL
}
