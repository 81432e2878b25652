package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

// bucketCmd NAME starts an S3 server with a bucket, and sets the script's environment to it.
func bucketCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: bucket NAME")
	}
	backend := s3mem.New()
	ts.Check(backend.CreateBucket(args[0]))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	ts.Defer(server.Close)
	for name, value := range bucketEnv(server.URL) {
		ts.Setenv(name, value)
	}
}

func bucketEnv(endpoint string) map[string]string {
	return map[string]string{"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secretsecret"}
}

// fetchCmd BUCKET/PREFIX DIR copies the objects below a prefix into a folder.
func fetchCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetchobjects BUCKET/PREFIX DIR")
	}
	name, prefix, _ := strings.Cut(args[0], "/")
	bucket := ts.Getenv("AWS_ENDPOINT_URL") + "/" + name
	var found struct{ Contents []struct{ Key string } }
	text, err := got(bucket + "?prefix=" + prefix)
	ts.Check(err)
	ts.Check(xml.Unmarshal(text, &found))
	for _, o := range found.Contents {
		text, err := got(bucket + "/" + o.Key)
		ts.Check(err)
		path := ts.MkAbs(filepath.Join(args[1], strings.TrimPrefix(o.Key, prefix)))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, text, 0o644))
	}
}

func got(url string) (text []byte, err error) {
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// sameObjectsCmd DIR FOLDER compares fetched objects with their list and with an export's files.
func sameObjectsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sameobjects DIR FOLDER")
	}
	ts.Check(sameObjects(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

func sameObjects(objects, files string) error {
	text, err := os.ReadFile(filepath.Join(objects, "_export.json"))
	if err != nil {
		return err
	}
	var list struct {
		Files []struct {
			Name, SHA256 string
			Bytes        int64
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	listed := map[string]bool{"_export.json": true}
	for _, o := range list.Files {
		listed[o.Name] = true
		object, errObject := os.ReadFile(filepath.Join(objects, o.Name))
		file, errFile := os.ReadFile(filepath.Join(files, o.Name))
		if err := errors.Join(errObject, errFile); err != nil {
			return err
		}
		sum := sha256.Sum256(file)
		if string(object) != string(file) || int64(len(file)) != o.Bytes || hex.EncodeToString(sum[:]) != o.SHA256 {
			return fmt.Errorf("%s differs", o.Name)
		}
	}
	for _, dir := range []string{objects, files} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if name, _ := filepath.Rel(dir, path); err == nil && !d.IsDir() && !listed[filepath.ToSlash(name)] {
				err = fmt.Errorf("%s is in no list", path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
