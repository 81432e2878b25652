package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"fossick/internal/cli"
	"fossick/internal/fileio"
)

// BucketScheme starts the address of an object store.
const BucketScheme = "s3://"

// s3Address is s3://bucket/key; a key that is a prefix is empty or ends in a slash.
type s3Address struct{ bucket, key string }

func parseS3(text string) (s3Address, error) {
	rest, found := strings.CutPrefix(text, BucketScheme)
	if !found {
		return s3Address{}, cli.Usagef("%q: want an address as s3://bucket/name", text)
	}
	bucket, key, _ := strings.Cut(rest, "/")
	if strings.Contains(bucket, "@") {
		return s3Address{}, cli.Usagef("s3://…: keys do not belong in an address, because others can read it; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	if bucket == "" || strings.HasPrefix(key, "/") || strings.Contains(key, "//") {
		return s3Address{}, cli.Usagef("%q: want a bucket and names between single slashes, as s3://bucket/folder/name", text)
	}
	return s3Address{bucket, key}, nil
}

func (a s3Address) String() string { return BucketScheme + a.bucket + "/" + a.key }

// s3Settings are the server and the credentials.
type s3Settings struct {
	endpoint          string // such as https://host:port; "" for Amazon
	region            string
	id, secret, token string
}

// s3FromEnvironment reads the AWS variables and profile files, without roles, single sign-on or credential_process.
func s3FromEnvironment(getenv func(string) string) (s3Settings, error) {
	profile, err := s3Profile(getenv)
	if err != nil {
		return s3Settings{}, err
	}
	s := s3Settings{
		endpoint: cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"]),
		region:   cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile["region"], "us-east-1"),
		id:       getenv("AWS_ACCESS_KEY_ID"), secret: getenv("AWS_SECRET_ACCESS_KEY"), token: getenv("AWS_SESSION_TOKEN"),
	}
	if s.id == "" && s.secret == "" {
		s.id, s.secret, s.token = profile["aws_access_key_id"], profile["aws_secret_access_key"], profile["aws_session_token"]
	}
	if s.id == "" || s.secret == "" {
		return s, cli.Usagef("s3: one or both keys for the server are missing; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws/credentials that has both")
	}
	return s, nil
}

// s3Profile merges the profile's settings from both files; the credentials file wins.
func s3Profile(getenv func(string) string) (map[string]string, error) {
	name := cmp.Or(getenv("AWS_PROFILE"), "default")
	said := map[string]string{}
	for _, file := range []struct{ variable, name, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + name}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", name},
	} {
		path := cmp.Or(getenv(file.variable), filepath.Join(getenv("HOME"), ".aws", file.name))
		text, err := fileio.All(path, 1<<20)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("s3: %w; set %s to another file", err, file.variable)
		}
		wanted := false
		for line := range strings.Lines(string(text)) {
			if section, found := strings.CutPrefix(strings.TrimSpace(line), "["); found {
				section, _, _ = strings.Cut(section, "]")
				section = strings.TrimSpace(section)
				wanted = section == file.section || name == "default" && section == name
				continue
			}
			// Indented lines are nested settings, which are not needed.
			if key, value, found := strings.Cut(line, "="); wanted && found && strings.IndexAny(line, " \t#;") != 0 {
				said[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
			}
		}
	}
	return said, nil
}

// s3Client sends requests for one bucket. Safe for concurrent use.
type s3Client struct {
	core           *minio.Core
	bucket, region string
}

func newS3Client(bucket string, s s3Settings) (*s3Client, error) {
	u, lookup := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}, minio.BucketLookupAuto
	if s.endpoint != "" {
		var err error
		u, err = url.Parse(s.endpoint)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" && u.Path != "/" {
			return nil, cli.Usagef("s3: AWS_ENDPOINT_URL is not the address of a server; set it to one such as https://host:9000")
		}
		lookup = minio.BucketLookupPath
	}
	transport, err := minio.DefaultTransport(u.Scheme == "https")
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConnsPerHost = mostInFlight / leastInFlight
	transport.ResponseHeaderTimeout = 2 * time.Minute // joining 10,000 parts is slow
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(s.id, s.secret, s.token), Secure: u.Scheme == "https", Transport: transport, Region: s.region, BucketLookup: lookup,
	})
	return &s3Client{core, bucket, s.region}, err
}

// grace is how long a changing request may outlast its context.
const grace = 5 * time.Second

// change makes a request that changes the server. It is not cut off at once when ctx ends: an upload with an
// unknown id could not be aborted, and an object could appear after its removal.
func (c *s3Client) change(ctx context.Context, key string, request func(context.Context) error) error {
	if ctx.Err() == nil {
		longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		defer cancel(nil)
		defer context.AfterFunc(ctx, func() {
			select {
			case <-time.After(grace):
				cancel(context.Cause(ctx))
			case <-longer.Done():
			}
		})()
		ctx = longer
	}
	return c.wrap(key, request(ctx))
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// put creates an object in one request and returns its ETag. Signing the hash makes the server verify the bytes.
func (c *s3Client) put(ctx context.Context, key string, content []byte) (tag string, err error) {
	err = c.change(ctx, key, func(ctx context.Context) error {
		made, err := c.core.PutObject(ctx, c.bucket, key, bytes.NewReader(content), int64(len(content)), "", sumOf(content), minio.PutObjectOptions{DisableContentSha256: true})
		tag = made.ETag
		return err
	})
	return tag, err
}

// begin begins an upload in parts.
func (c *s3Client) begin(ctx context.Context, key string) (id string, err error) {
	err = c.change(ctx, key, func(ctx context.Context) (err error) {
		id, err = c.core.NewMultipartUpload(ctx, c.bucket, key, minio.PutObjectOptions{})
		return err
	})
	return id, err
}

func (c *s3Client) part(ctx context.Context, key, id string, number int, content []byte) (tag string, err error) {
	err = c.change(ctx, key, func(ctx context.Context) error {
		made, err := c.core.PutObjectPart(ctx, c.bucket, key, id, number, bytes.NewReader(content), int64(len(content)),
			minio.PutObjectPartOptions{Sha256Hex: sumOf(content), DisableContentSha256: true})
		tag = made.ETag
		return err
	})
	return tag, err
}

// complete joins an upload's parts and returns the object's ETag as listed, since some servers answer with
// another. If the first answer was lost, the retry finds no upload but the object.
func (c *s3Client) complete(ctx context.Context, key, id string, parts []minio.CompletePart) (tag string, err error) {
	err = c.change(ctx, key, func(ctx context.Context) error {
		_, failed := c.core.CompleteMultipartUpload(ctx, c.bucket, key, id, parts, minio.PutObjectOptions{})
		if failed != nil && !is(failed, minio.NoSuchUpload) {
			return failed
		}
		o, err := c.first(ctx, key)
		if tag = o.ETag; err == nil && o.Key != key {
			err = failed
		}
		return err
	})
	return tag, err
}

func (c *s3Client) abort(ctx context.Context, key, id string) error {
	return c.change(ctx, key, func(ctx context.Context) error {
		if err := c.core.AbortMultipartUpload(ctx, c.bucket, key, id); !is(err, minio.NoSuchUpload) {
			return err
		}
		return nil
	})
}

// uploads yields unfinished multipart uploads to keys with a prefix.
func (c *s3Client) uploads(ctx context.Context, prefix string) iter.Seq2[minio.ObjectMultipartInfo, error] {
	return func(yield func(minio.ObjectMultipartInfo, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for u := range c.core.ListIncompleteUploads(ctx, c.bucket, prefix, true) {
			if is(u.Err, minio.NoSuchUpload) {
				return // some servers answer so when there are none
			}
			if !yield(u, c.wrap(prefix, u.Err)) {
				return
			}
		}
	}
}

func (c *s3Client) open(ctx context.Context, key string) (io.ReadCloser, error) {
	body, _, _, err := c.core.GetObject(ctx, c.bucket, key, minio.GetObjectOptions{})
	return body, c.wrap(key, err)
}

// below yields the objects whose keys have a prefix.
func (c *s3Client) below(ctx context.Context, prefix string) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		for o := range c.core.ListObjectsIter(ctx, c.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if !yield(o, c.wrap(prefix, o.Err)) {
				return
			}
		}
	}
}

// first returns the first object whose key has a prefix; its key is "" for none.
func (c *s3Client) first(ctx context.Context, prefix string) (minio.ObjectInfo, error) {
	for o, err := range c.below(ctx, prefix) {
		return o, err
	}
	return minio.ObjectInfo{}, nil
}

// has reports whether an object exists. It lists, since credentials may lack the right to read.
func (c *s3Client) has(ctx context.Context, key string) (bool, error) {
	o, err := c.first(ctx, key)
	return err == nil && o.Key == key, err
}

func (c *s3Client) removeAll(ctx context.Context, keys iter.Seq[string]) error {
	return c.change(ctx, "", func(ctx context.Context) error {
		results, err := c.core.RemoveObjectsWithIter(ctx, c.bucket, func(yield func(minio.ObjectInfo) bool) {
			for key := range keys {
				if !yield(minio.ObjectInfo{Key: key}) {
					return
				}
			}
		}, minio.RemoveObjectsOptions{})
		if err != nil {
			return err
		}
		for r := range results {
			if r.Err != nil && !is(r.Err, minio.NoSuchKey) { // a concurrent export may have removed it
				err = cmp.Or(err, fmt.Errorf("%s: %w", r.ObjectName, r.Err))
			}
		}
		return err
	})
}

func (c *s3Client) remove(ctx context.Context, key string) error {
	return c.change(ctx, key, func(ctx context.Context) error {
		return c.core.RemoveObject(ctx, c.bucket, key, minio.RemoveObjectOptions{})
	})
}

// is reports whether err is a server's error with this code.
func is(err error, code string) bool {
	r, ok := errors.AsType[minio.ErrorResponse](err)
	return ok && r.Code == code
}

// hints tell the user what to do, by error code.
var hints = map[string]string{
	minio.NoSuchBucket:          "make the bucket first, or give another",
	minio.AccessDenied:          "the keys in use do not allow that",
	minio.InvalidAccessKeyID:    "see AWS_ACCESS_KEY_ID, or the profile in use",
	minio.SignatureDoesNotMatch: "see AWS_SECRET_ACCESS_KEY, or the profile in use",
	minio.NoSuchUpload:          "another export to the same place stopped this one; run it again when the other has ended",
}

// wrap adds the address and a hint to an error.
func (c *s3Client) wrap(key string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), BucketScheme) { // it has them
		return err
	}
	at := s3Address{c.bucket, key}
	r, refused := errors.AsType[minio.ErrorResponse](err)
	if !refused {
		return fmt.Errorf("%s: %w", at, err)
	}
	hint := hints[r.Code]
	if r.Region != "" && r.Region != c.region {
		hint = "the bucket is elsewhere; set AWS_REGION=" + r.Region
	}
	if hint != "" {
		hint = "; " + hint
	}
	return fmt.Errorf("%s: the server answers %d %s: %w%s", at, r.StatusCode, r.Code, err, hint)
}
