package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"fossick/internal/testkit"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// gateway starts an S3 server by other authors and returns the folder that holds the bucket's objects
// as files.
func gateway(t *testing.T, bucket string) (dir string) {
	t.Helper()
	program := testkit.Program(t, "versitygw")
	root := t.TempDir()
	dir = filepath.Join(root, "objects", bucket)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, errors.Join(err, os.MkdirAll(dir, 0o755), os.Mkdir(filepath.Join(root, "iam"), 0o755)))
	addr := l.Addr().String()
	testkit.Must(t, l.Close())
	env := bucketEnv("http://" + addr)
	cmd := exec.Command(program, "--quiet", "--port", addr, "--access", env["AWS_ACCESS_KEY_ID"], "--secret", env["AWS_SECRET_ACCESS_KEY"],
		"--iam-dir", filepath.Join(root, "iam"), "posix", "--sidecar", filepath.Join(root, "iam"), filepath.Dir(dir))
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has nothing to save
		_ = cmd.Wait()
	})
	for name, value := range env {
		t.Setenv(name, value)
	}
	for range 600 { // until it answers
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return dir
		}
		time.Sleep(50 * time.Millisecond) // the server is another process
	}
	t.Fatal("the server does not answer")
	return ""
}

// TestKilledExportToBucket kills exports to an S3 server. Each time there is no list, or everything
// that it lists; the next export removes what is left over.
func TestKilledExportToBucket(t *testing.T) {
	testkit.Only(t, "kills exports of a whole crawl; by default the tests of package export look at each moment")
	shelves := gateway(t, "shelves")
	crawl, files := crawledDemo(t), filepath.Join(t.TempDir(), "files")
	export := func(to string) []string {
		return []string{"export", crawl, "--to", "jsonl,csv,markdown,warc,wacz,sqlite", "-o", to, "--quiet"}
	}
	start := time.Now()
	if killed, _ := runAndKill(t, export(files), 2*time.Minute); killed {
		t.Fatal("export takes too long")
	}
	took := 2 * time.Since(start)
	rng := rand.New(rand.NewPCG(uint64(start.UnixNano()), 5))
	kills := 0
	for range fromEnv("FOSSICK_KILLS", 6) {
		if killed, _ := runAndKill(t, export("s3://shelves/out"), time.Duration(rng.Int64N(int64(took)))); killed {
			kills++
		}
		if _, err := os.Stat(filepath.Join(shelves, "out", "_export.json")); err != nil {
			continue
		}
		testkit.Must(t, sameObjects(filepath.Join(shelves, "out"), files))
		testkit.Must(t, os.RemoveAll(filepath.Join(shelves, "out")))
	}
	for range 2 { // the second run compares
		if killed, _ := runAndKill(t, export("s3://shelves/out"), 5*time.Minute); killed {
			t.Fatal("export takes too long")
		}
	}
	testkit.Must(t, sameObjects(filepath.Join(shelves, "out"), files))
	t.Logf("%d kills", kills)
}
