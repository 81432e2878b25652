package bucket

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

// Scheme starts every address.
const Scheme = "s3://"

// address is s3://bucket/key; a key that is a prefix is empty or ends in a slash.
type address struct{ bucket, key string }

func parse(text string) (address, error) {
	rest, found := strings.CutPrefix(text, Scheme)
	if !found {
		return address{}, cli.Usagef("%q: want an address as s3://bucket/name", text)
	}
	bucket, key, _ := strings.Cut(rest, "/")
	if strings.Contains(bucket, "@") {
		return address{}, cli.Usagef("s3://…: keys do not belong in an address, because others can read it; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
	}
	if bucket == "" || strings.HasPrefix(key, "/") || strings.Contains(key, "//") {
		return address{}, cli.Usagef("%q: want a bucket and names between single slashes, as s3://bucket/folder/name", text)
	}
	return address{bucket, key}, nil
}

func (a address) String() string { return Scheme + a.bucket + "/" + a.key }

// settings are the server and the credentials.
type settings struct {
	endpoint          string // such as https://host:port; "" for Amazon
	region            string
	id, secret, token string
}

// fromEnvironment reads the AWS variables and profile files, without roles, single sign-on or credential_process.
func fromEnvironment(getenv func(string) string) (settings, error) {
	profile, err := readProfile(getenv)
	if err != nil {
		return settings{}, err
	}
	s := settings{
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

// readProfile merges the profile's settings from both files; the credentials file wins.
func readProfile(getenv func(string) string) (map[string]string, error) {
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

// client sends requests for one bucket. Safe for concurrent use.
type client struct {
	core           *minio.Core
	bucket, region string
}

func newClient(bucket string, s settings) (*client, error) {
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
	transport.MaxIdleConnsPerHost = mostBytes / leastBytes
	transport.ResponseHeaderTimeout = 2 * time.Minute // joining 10,000 parts is slow
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds: credentials.NewStaticV4(s.id, s.secret, s.token), Secure: u.Scheme == "https", Transport: transport, Region: s.region, BucketLookup: lookup,
	})
	return &client{core, bucket, s.region}, err
}

// grace is how long a changing request may outlast its context.
const grace = 5 * time.Second

// unhurried returns a context for a changing request, which must not be cut off at once: an upload with an
// unknown id could not be aborted, and an object could appear after its removal.
func unhurried(ctx context.Context) (_ context.Context, end func()) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel(context.Cause(ctx))
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// put creates an object in one request and returns its ETag. Signing the hash makes the server verify the bytes.
func (c *client) put(ctx context.Context, key string, content []byte) (tag string, err error) {
	ctx, end := unhurried(ctx)
	defer end()
	made, err := c.core.PutObject(ctx, c.bucket, key, bytes.NewReader(content), int64(len(content)), "", sumOf(content), minio.PutObjectOptions{DisableContentSha256: true})
	return made.ETag, c.wrap(key, err)
}

func (c *client) begin(ctx context.Context, key string) (id string, err error) {
	ctx, end := unhurried(ctx)
	defer end()
	id, err = c.core.NewMultipartUpload(ctx, c.bucket, key, minio.PutObjectOptions{})
	return id, c.wrap(key, err)
}

func (c *client) part(ctx context.Context, key, id string, number int, content []byte) (minio.CompletePart, error) {
	ctx, end := unhurried(ctx)
	defer end()
	made, err := c.core.PutObjectPart(ctx, c.bucket, key, id, number, bytes.NewReader(content), int64(len(content)),
		minio.PutObjectPartOptions{Sha256Hex: sumOf(content), DisableContentSha256: true})
	return minio.CompletePart{PartNumber: number, ETag: made.ETag}, c.wrap(key, err)
}

// complete joins an upload's parts and returns the object's ETag as listed, since some servers answer with
// another. If the first answer was lost, the retry finds no upload but the object.
func (c *client) complete(ctx context.Context, key, id string, parts []minio.CompletePart) (tag string, err error) {
	ctx, end := unhurried(ctx)
	defer end()
	_, failed := c.core.CompleteMultipartUpload(ctx, c.bucket, key, id, parts, minio.PutObjectOptions{})
	if failed != nil && !is(failed, minio.NoSuchUpload) {
		return "", c.wrap(key, failed)
	}
	if o, err := c.first(ctx, key); err != nil || o.Key == key {
		return o.ETag, err
	}
	return "", c.wrap(key, failed)
}

func (c *client) abort(ctx context.Context, key, id string) error {
	ctx, end := unhurried(ctx)
	defer end()
	if err := c.core.AbortMultipartUpload(ctx, c.bucket, key, id); !is(err, minio.NoSuchUpload) {
		return c.wrap(key, err)
	}
	return nil
}

// uploads yields unfinished multipart uploads to keys with a prefix.
func (c *client) uploads(ctx context.Context, prefix string) iter.Seq2[minio.ObjectMultipartInfo, error] {
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

func (c *client) open(ctx context.Context, key string) (io.ReadCloser, error) {
	body, _, _, err := c.core.GetObject(ctx, c.bucket, key, minio.GetObjectOptions{})
	return body, c.wrap(key, err)
}

// below yields the objects whose keys have a prefix.
func (c *client) below(ctx context.Context, prefix string) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		for o := range c.core.ListObjectsIter(ctx, c.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			if !yield(o, c.wrap(prefix, o.Err)) {
				return
			}
		}
	}
}

// first returns the first object whose key has a prefix; its key is "" for none.
func (c *client) first(ctx context.Context, prefix string) (minio.ObjectInfo, error) {
	for o, err := range c.below(ctx, prefix) {
		return o, err
	}
	return minio.ObjectInfo{}, nil
}

// has reports whether an object exists. It lists, since credentials may lack the right to read.
func (c *client) has(ctx context.Context, key string) (bool, error) {
	o, err := c.first(ctx, key)
	return err == nil && o.Key == key, err
}

func (c *client) removeAll(ctx context.Context, keys iter.Seq[string]) error {
	ctx, end := unhurried(ctx)
	defer end()
	results, err := c.core.RemoveObjectsWithIter(ctx, c.bucket, func(yield func(minio.ObjectInfo) bool) {
		for key := range keys {
			if !yield(minio.ObjectInfo{Key: key}) {
				return
			}
		}
	}, minio.RemoveObjectsOptions{})
	if err != nil {
		return c.wrap("", err)
	}
	for r := range results {
		if r.Err != nil && !is(r.Err, minio.NoSuchKey) { // a concurrent export may have removed it
			err = cmp.Or(err, c.wrap(r.ObjectName, r.Err))
		}
	}
	return err
}

func (c *client) remove(ctx context.Context, key string) error {
	ctx, end := unhurried(ctx)
	defer end()
	return c.wrap(key, c.core.RemoveObject(ctx, c.bucket, key, minio.RemoveObjectOptions{}))
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
func (c *client) wrap(key string, err error) error {
	if err == nil {
		return nil
	}
	at := address{c.bucket, key}
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
