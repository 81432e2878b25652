package bucket

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// client asks a server for the objects of one bucket. Safe for concurrent use.
type client struct {
	settings Settings
	bucket   string
	base     *url.URL // of the bucket, with a slash
	http     *http.Client
	signer   *v4.Signer
	now      func() time.Time
}

func newClient(bucket string, s Settings) (*client, error) {
	base, err := s.base(bucket)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = mostBytes / leastBytes
	transport.ResponseHeaderTimeout = 2 * time.Minute // to join 10,000 parts takes a while
	return &client{
		settings: s, bucket: bucket, base: base, http: &http.Client{Transport: transport, CheckRedirect: noRedirect}, now: time.Now,
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // S3 has paths escaped once
	}, nil
}

// noRedirect has the client stay where the user sent it: pages and keys are for no other host.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// request is one as the server is asked.
type request struct {
	method string
	key    string
	query  url.Values
	header http.Header
	body   []byte
}

// tries is how often a server that is busy, or away, is asked, and pause how long a client
// waits after the first; after each other it waits twice as long.
const (
	tries = 7
	pause = 100 * time.Millisecond
)

// do asks until there is an answer that stands. Its body has to be closed.
func (c *client) do(ctx context.Context, r request) (answer *http.Response, err error) {
	for try := range tries {
		var again bool
		answer, again, err = c.ask(ctx, r)
		if !again || try == tries-1 {
			break
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause << try):
		}
	}
	if err != nil {
		return nil, c.wrap(r.key, err)
	}
	return answer, nil
}

// ask asks once, and says whether another try may help.
func (c *client) ask(ctx context.Context, r request) (answer *http.Response, again bool, err error) {
	at := *c.base
	at.Path, at.RawPath = c.base.Path+r.key, c.base.EscapedPath()+escape(r.key)
	at.RawQuery = r.query.Encode()
	q, err := http.NewRequestWithContext(ctx, r.method, at.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, false, err
	}
	q.URL = &at
	for name, values := range r.header {
		q.Header[name] = values
	}
	// The sum of the content is signed, so the server verifies what arrives.
	sum := sumOf(r.body)
	q.Header.Set("X-Amz-Content-Sha256", sum)
	if err := c.signer.SignHTTP(ctx, c.settings.keys, q, sum, "s3", c.settings.region(), c.now()); err != nil {
		return nil, false, err
	}
	answer, err = c.http.Do(q)
	if err != nil {
		return nil, ctx.Err() == nil, err
	}
	if answer.StatusCode/100 == 2 {
		return answer, false, nil
	}
	refused := readRefusal(answer)
	return nil, refused.passes(), refused
}

// refusal is an answer of the server other than what was asked for.
type refusal struct {
	status int
	region string // of the bucket, where it is another
	Code   string
	Text   string `xml:"Message"`
}

func readRefusal(answer *http.Response) *refusal {
	r := &refusal{status: answer.StatusCode, region: answer.Header.Get("X-Amz-Bucket-Region")}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // what there is of it will do
	_ = answer.Body.Close()                                    // it was read
	_ = xml.Unmarshal(text, r)                                 // some have no words
	return r
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("the server answers %d", r.status)
	if r.Code != "" {
		text += " " + r.Code
	}
	if r.Text != "" {
		text += ": " + strings.TrimSuffix(r.Text, ".")
	}
	return text
}

// passes says whether the reason may be gone in a moment.
func (r *refusal) passes() bool {
	return r.status >= 500 && r.status != http.StatusNotImplemented || r.status == http.StatusTooManyRequests ||
		r.Code == "RequestTimeout" || r.Code == "SlowDown"
}

// is says whether an error is a server's refusal with this code.
func is(err error, code string) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.Code == code
}

// hints are what the user can do about an answer, by its code.
var hints = map[string]string{
	"NoSuchBucket":          "make the bucket first, or give another",
	"AccessDenied":          "the keys in use do not allow that",
	"InvalidAccessKeyId":    "see AWS_ACCESS_KEY_ID, or the profile in use",
	"SignatureDoesNotMatch": "see AWS_SECRET_ACCESS_KEY, or the profile in use",
	"NoSuchUpload":          "another export to the same place stopped this one; run it again when the other has ended",
}

// wrap says what an error is of, and what can be done.
func (c *client) wrap(key string, err error) error {
	hint := ""
	if r, ok := errors.AsType[*refusal](err); ok {
		hint = hints[r.Code]
		if r.region != "" && r.region != c.settings.region() {
			hint = "the bucket is elsewhere; set AWS_REGION=" + r.region
		}
	}
	if hint != "" {
		hint = "; " + hint
	}
	return fmt.Errorf("%s: %w%s", Address{c.bucket, key}, err, hint)
}

// escape writes a key as a path: all but letters, digits, slashes and -._~ as %XX, which
// is what a signature is made of.
func escape(key string) string {
	var b strings.Builder
	for _, c := range []byte(key) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
