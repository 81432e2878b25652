package warc

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// Digest returns a SHA-1 as nearly all archives write it. It names content and proves
// nothing: who wants to be safe from forgery signs the file.
func Digest(parts ...[]byte) string {
	h := sha1.New()
	for _, p := range parts {
		h.Write(p)
	}
	var sum [sha1.Size]byte
	return SHA1([sha1.Size]byte(h.Sum(sum[:0])))
}

// SHA1 writes a sum as Digest does.
func SHA1(sum [sha1.Size]byte) string { return "sha1:" + base32.StdEncoding.EncodeToString(sum[:]) }

type checksum struct {
	hash.Hash
	want string
}

// newChecksum returns nil where there is no digest of the block, or of a kind that is not
// known. Digests of payloads are not compared: programs differ in what they take as one.
func newChecksum(rec *Record) *checksum {
	algorithm, want, _ := strings.Cut(rec.Header.Get("WARC-Block-Digest"), ":")
	var h hash.Hash
	switch strings.ToLower(strings.ReplaceAll(algorithm, "-", "")) {
	case "sha1":
		h = sha1.New()
	case "sha256":
		h = sha256.New()
	case "sha512":
		h = sha512.New()
	case "md5":
		h = md5.New()
	default:
		return nil
	}
	return &checksum{h, want}
}

// check compares what was written with the digest. It is in base 32, as the standard's
// examples are, or hexadecimal or in base 64, as some programs write it.
func (c *checksum) check() error {
	sum := c.Sum(nil)
	want, got := strings.TrimRight(c.want, "="), base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum)
	if strings.EqualFold(want, got) || strings.EqualFold(want, hex.EncodeToString(sum)) || want == base64.RawStdEncoding.EncodeToString(sum) {
		return nil
	}
	return fmt.Errorf("%w: the header says %.80s, its block has %s", ErrDigest, c.want, got)
}
