package datasets

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/internal/tries"
	"fossick/internal/warc"
)

// TestBrokenWACZ: an archive whose zip cannot be read on ends, with one error, for programs
// that pass over damage, too; what stands before is read.
func TestBrokenWACZ(t *testing.T) {
	class := tries.Of(t, "archives that cannot be read on")
	var plain []byte
	for i := range 200 {
		body := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>%d</title>%s", i, strings.Repeat(fmt.Sprint(i*i), 100))
		plain = fmt.Appendf(plain, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:%d>\r\nWARC-Target-URI: http://a.test/%d\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", i, i, len(body), body)
	}
	var members []byte
	packer := warc.NewPacker()
	for _, d := range archived() {
		var err error
		if members, err = packer.Append(members, d); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string][]byte{"a.warc": plain, "a.warc.gz": members} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			for what, harm := range map[string]func(h *zip.FileHeader, raw []byte) []byte{
				"cut":        func(_ *zip.FileHeader, raw []byte) []byte { return raw[:len(raw)/2] },
				"a checksum": func(h *zip.FileHeader, raw []byte) []byte { h.CRC32++; return raw },
				"a bad middle": func(_ *zip.FileHeader, raw []byte) []byte {
					copy(raw[len(raw)/2:], "\xff\xff\xff\xff\xff\xff")
					return raw
				},
				"a wrong size":  func(h *zip.FileHeader, raw []byte) []byte { h.UncompressedSize64 /= 2; return raw },
				"a larger size": func(h *zip.FileHeader, raw []byte) []byte { h.UncompressedSize64 *= 2; return raw },
			} {
				path := waczOf(t, "archive/"+name, method, file, harm)
				for _, partial := range []bool{false, true} {
					set, err := Open(path, Options{Partial: partial})
					if err != nil {
						t.Fatal(err)
					}
					rows, bad := 0, 0
					var last error
					for _, err := range set.Examples() {
						if rows++; err != nil {
							last = err
							if bad++; bad > 200 {
								break
							}
						}
					}
					rowsBefore := 2 // in the half that is whole
					if strings.HasSuffix(what, "size") || name == "a.warc.gz" && method == zip.Deflate {
						rowsBefore = 0 // the unpacker gives nothing of its first block
					}
					ended := bad >= 1 && bad <= 200 && !IsRow(last) && strings.HasPrefix(last.Error(), path)
					class.Try(ended && rows-bad >= rowsBefore, "%s in %d with %s, partial %v: %d rows, %d errors, the last %v", name, method, what, partial, rows-bad, bad, last)
				}
			}
		}
	}
}

// waczOf writes an archive of one file, whose zip is harmed.
func waczOf(t testing.TB, name string, method uint16, file []byte, harm func(*zip.FileHeader, []byte) []byte) string {
	t.Helper()
	var whole bytes.Buffer
	z := zip.NewWriter(&whole)
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err == nil {
		_, err = w.Write(file)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		t.Fatal(err)
	}
	offset, err := r.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	head := r.File[0].FileHeader
	raw := harm(&head, bytes.Clone(whole.Bytes()[offset:offset+int64(head.CompressedSize64)]))
	head.CompressedSize64 = uint64(len(raw))
	var out bytes.Buffer
	z = zip.NewWriter(&out)
	w, err = z.CreateRaw(&head)
	if err == nil {
		_, err = w.Write(raw)
	}
	if err == nil {
		err = z.Close()
	}
	path := filepath.Join(t.TempDir(), "a.wacz")
	if err == nil {
		err = os.WriteFile(path, out.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestZipBombs: an entry of a WACZ that grows without measure is refused before it is read,
// packed once or twice.
func TestZipBombs(t *testing.T) {
	class := tries.Of(t, "bombs")
	head := "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 104857600\r\n\r\n"
	plain := append([]byte(head), make([]byte, 100<<20)...)
	for name, file := range map[string][]byte{"a.warc": plain, "a.warc.gz": make([]byte, 2<<20), "a.warc.zst": make([]byte, 2<<20)} {
		path := waczOf(t, "archive/"+name, zip.Deflate, file, func(_ *zip.FileHeader, raw []byte) []byte { return raw })
		set, err := Open(path, Options{Partial: true})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range set.Examples() {
			last = err
		}
		class.Try(errors.Is(last, warc.ErrBomb), "%s: %v", name, last)
	}
}
