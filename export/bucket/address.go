package bucket

import (
	"strings"

	"fossick/internal/usage"
)

// Scheme is what addresses begin with.
const Scheme = "s3://"

// Address is a place in an object store: s3://bucket/key. A key that is a prefix ends in a
// slash, or is "".
type Address struct{ Bucket, Key string }

// Parse reads an address.
func Parse(text string) (Address, error) {
	rest, found := strings.CutPrefix(text, Scheme)
	if !found {
		return Address{}, usage.Errorf("%q: want an address as s3://bucket/name", text)
	}
	if strings.Contains(rest, "@") && !strings.Contains(rest[:strings.Index(rest, "@")], "/") {
		return Address{}, usage.Errorf("s3://…: keys do not belong in an address, because others can read it; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	bucket, key, _ := strings.Cut(rest, "/")
	if bucket == "" || strings.HasPrefix(key, "/") || strings.Contains(key, "//") {
		return Address{}, usage.Errorf("%q: want a bucket and names between single slashes, as s3://bucket/folder/name", text)
	}
	return Address{bucket, key}, nil
}

// Folder is the address as that of a prefix.
func (a Address) Folder() Address {
	if a.Key != "" && !strings.HasSuffix(a.Key, "/") {
		a.Key += "/"
	}
	return a
}

func (a Address) String() string { return Scheme + a.Bucket + "/" + a.Key }
