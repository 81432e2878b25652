package bucket

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// part is one that the server has.
type part struct {
	Number int    `xml:"PartNumber"`
	ETag   string `xml:"ETag"`
}

// there is an object as a server lists it.
type there struct {
	Key  string
	Size int64
	ETag string
}

// answerOf asks, and reads the answer into what it is to be.
func (c *client) answerOf(ctx context.Context, r request, to any) error {
	ctx, end := unhurried(ctx, r)
	defer end()
	answer, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 16<<20))
	if err != nil {
		return c.wrap(r.key, err)
	}
	// What takes long begins with 200, and may end with an error.
	failed := refusal{status: answer.StatusCode}
	if xml.Unmarshal(text, &failed) == nil && failed.Code != "" {
		return c.wrap(r.key, &failed)
	}
	if to == nil {
		return nil
	}
	if err := xml.Unmarshal(text, to); err != nil {
		return c.wrap(r.key, fmt.Errorf("the answer does not come from an S3 server: %w", err))
	}
	return nil
}

// sent asks for what is answered by a header alone, and returns the tag there.
func (c *client) sent(ctx context.Context, r request) (tag string, err error) {
	ctx, end := unhurried(ctx, r)
	defer end()
	answer, err := c.do(ctx, r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection can be used again
	return answer.Header.Get("ETag"), err
}

// grace is how much longer than its context a request may take that changes something.
const grace = 5 * time.Second

// unhurried returns the context of a request. One that changes something on the server is
// not cut off in the middle: else nobody knew the id of an upload that was begun, and an
// object could come after it was taken back.
func unhurried(ctx context.Context, r request) (_ context.Context, end func()) {
	if r.method == http.MethodGet || ctx.Err() != nil {
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

// put makes an object in one request, and returns its tag.
func (c *client) put(ctx context.Context, key string, content []byte) (string, error) {
	tag, err := c.sent(ctx, request{method: http.MethodPut, key: key, body: content})
	return strings.Trim(tag, `"`), err
}

// begin begins an upload in parts, and returns its id.
func (c *client) begin(ctx context.Context, key string) (string, error) {
	var begun struct {
		UploadID string `xml:"UploadId"`
	}
	err := c.answerOf(ctx, request{method: http.MethodPost, key: key, query: url.Values{"uploads": {""}}}, &begun)
	return begun.UploadID, err
}

func (c *client) part(ctx context.Context, key, id string, number int, content []byte) (part, error) {
	tag, err := c.sent(ctx, request{
		method: http.MethodPut, key: key, body: content,
		query: url.Values{"partNumber": {strconv.Itoa(number)}, "uploadId": {id}},
	})
	return part{number, tag}, err
}

// complete makes an object of an upload's parts, and returns its tag.
func (c *client) complete(ctx context.Context, key, id string, parts []part) (string, error) {
	body, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Parts   []part   `xml:"Part"`
	}{Parts: parts})
	if err != nil {
		return "", err
	}
	failed := c.answerOf(ctx, request{method: http.MethodPost, key: key, query: url.Values{"uploadId": {id}}, body: body}, nil)
	if failed != nil && !is(failed, "NoSuchUpload") {
		return "", failed
	}
	// Some servers list another tag than they answer. And where the answer to the first try
	// was lost, the second finds no upload, but the object.
	for o, err := range c.below(ctx, key) {
		if err != nil || o.Key == key {
			return o.ETag, err
		}
		break
	}
	return "", failed
}

func (c *client) abort(ctx context.Context, key, id string) error {
	_, err := c.sent(ctx, request{method: http.MethodDelete, key: key, query: url.Values{"uploadId": {id}}})
	if is(err, "NoSuchUpload") {
		return nil
	}
	return err
}

// uploads yields those in parts that were begun and not ended, of keys that begin so.
func (c *client) uploads(ctx context.Context, prefix string) iter.Seq2[there, error] {
	return func(yield func(key there, err error) bool) {
		for marker, id := "", ""; ; {
			var found struct {
				Upload []struct {
					Key string
					ID  string `xml:"UploadId"`
				}
				IsTruncated        bool
				NextKeyMarker      string
				NextUploadIDMarker string `xml:"NextUploadIdMarker"`
			}
			query := url.Values{"uploads": {""}, "prefix": {prefix}}
			if marker != "" {
				query["key-marker"], query["upload-id-marker"] = []string{marker}, []string{id}
			}
			err := c.answerOf(ctx, request{method: http.MethodGet, query: query}, &found)
			if is(err, "NoSuchUpload") {
				return // what some servers say where there are none
			}
			if err != nil {
				yield(there{}, err)
				return
			}
			for _, u := range found.Upload {
				if !yield(there{Key: u.Key, ETag: u.ID}, nil) {
					return
				}
			}
			if marker, id = found.NextKeyMarker, found.NextUploadIDMarker; !found.IsTruncated || marker == "" {
				return
			}
		}
	}
}

// open reads an object.
func (c *client) open(ctx context.Context, key string) (io.ReadCloser, error) {
	answer, err := c.do(ctx, request{method: http.MethodGet, key: key})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// has says whether there is an object. It asks for a list, as one who may list and write
// need not be allowed to read.
func (c *client) has(ctx context.Context, key string) (bool, error) {
	for o, err := range c.below(ctx, key) {
		return err == nil && o.Key == key, err
	}
	return false, nil
}

// below yields the objects whose keys begin so.
func (c *client) below(ctx context.Context, prefix string) iter.Seq2[there, error] {
	return func(yield func(there, error) bool) {
		for token := ""; ; {
			var found struct {
				Contents              []there
				IsTruncated           bool
				NextContinuationToken string
			}
			query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
			if token != "" {
				query["continuation-token"] = []string{token}
			}
			if err := c.answerOf(ctx, request{method: http.MethodGet, query: query}, &found); err != nil {
				yield(there{}, err)
				return
			}
			for _, o := range found.Contents {
				o.ETag = strings.Trim(o.ETag, `"`)
				if !yield(o, nil) {
					return
				}
			}
			if token = found.NextContinuationToken; !found.IsTruncated || token == "" {
				return
			}
		}
	}
}

// removed is how many objects are removed by a request, at most.
const removed = 1000

// removeAll removes objects.
func (c *client) removeAll(ctx context.Context, keys iter.Seq[string]) error {
	type object struct{ Key string }
	batch := make([]object, 0, removed)
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		body, err := xml.Marshal(struct {
			XMLName xml.Name `xml:"Delete"`
			Quiet   bool
			Objects []object `xml:"Object"`
		}{Quiet: true, Objects: batch})
		if err != nil {
			return err
		}
		sum := md5.Sum(body) // which S3 asks for here
		batch = batch[:0]
		var left struct {
			Error []struct{ Key, Code, Message string }
		}
		err = c.answerOf(ctx, request{
			method: http.MethodPost, query: url.Values{"delete": {""}}, body: body,
			header: http.Header{"Content-Md5": {base64.StdEncoding.EncodeToString(sum[:])}},
		}, &left)
		if err != nil {
			return err
		}
		for _, e := range left.Error {
			if e.Code != "NoSuchKey" { // somebody else was faster
				return c.wrap(e.Key, &refusal{status: http.StatusOK, Code: e.Code, Text: e.Message})
			}
		}
		return nil
	}
	for key := range keys {
		if batch = append(batch, object{key}); len(batch) == removed {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (c *client) remove(ctx context.Context, key string) error {
	_, err := c.sent(ctx, request{method: http.MethodDelete, key: key})
	return err
}
