package bucket

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFromEnvironment(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("HOME", dir)
	t.Setenv("AWS_CONFIG_FILE", write("config", "[default]\nregion = here\n[profile p]\nregion = there\nendpoint_url = http://h:9000\n"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", "[p]\naws_access_key_id = fileid\naws_secret_access_key = filesecret\n"))
	for _, test := range []struct{ set, want string }{
		{"AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret", " here id"},
		{"AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret AWS_REGION=r AWS_ENDPOINT_URL=https://e AWS_ENDPOINT_URL_S3=https://s", "https://s r id"},
		{"AWS_PROFILE=p", "http://h:9000 there fileid"},
		{"AWS_ACCESS_KEY_ID=id", "both keys for the server are missing"},
		{"", "both keys for the server are missing"},
		{"AWS_PROFILE=q", "both keys for the server are missing"},
	} {
		t.Run(test.set, func(t *testing.T) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
				t.Setenv(name, "")
			}
			for _, pair := range strings.Fields(test.set) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			s, err := fromEnvironment(os.Getenv)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "filesecret") {
					t.Error(err)
				}
				return
			}
			if got := s.endpoint + " " + s.region + " " + s.id; got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	for _, endpoint := range []string{"h:9000", "ftp://h", "https://id:secret@h", "https://h/path"} {
		if _, err := newClient("bbb", settings{endpoint: endpoint}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
