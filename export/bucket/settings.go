package bucket

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"fossick/internal/reading"
	"fossick/internal/usage"
)

// Settings say which server has the buckets, and who asks it.
type Settings struct {
	Endpoint string // as https://host:port; "" is Amazon's
	Region   string // "" is us-east-1, as most servers but Amazon's take any

	keys aws.Credentials
}

// FromEnvironment finds settings where all programs for S3 do: in AWS_ENDPOINT_URL_S3,
// AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
// else in the profile AWS_PROFILE of the files AWS_CONFIG_FILE and
// AWS_SHARED_CREDENTIALS_FILE, by default ~/.aws/config and ~/.aws/credentials.
func FromEnvironment(getenv func(string) string) (Settings, error) {
	profile, err := profileOf(getenv)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{
		Endpoint: cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"]),
		Region:   cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"), profile["region"]),
	}
	id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	token := getenv("AWS_SESSION_TOKEN")
	if id == "" && secret == "" {
		id, secret, token = profile["aws_access_key_id"], profile["aws_secret_access_key"], profile["aws_session_token"]
	}
	if id == "" || secret == "" {
		return s, usage.Errorf("s3: one or both keys for the server are missing; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile of ~/.aws/credentials that has both")
	}
	s.keys = aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token}
	return s, nil
}

// profileOf reads what the two files say of the profile in use; the second has the last word.
// There need be no file.
func profileOf(getenv func(string) string) (map[string]string, error) {
	name := cmp.Or(getenv("AWS_PROFILE"), "default")
	said := map[string]string{}
	for _, file := range []struct{ variable, name, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + name}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials", name},
	} {
		path := cmp.Or(getenv(file.variable), filepath.Join(getenv("HOME"), ".aws", file.name))
		text, err := reading.All(path, 1<<20)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("s3: %w; set %s to another file", err, file.variable)
		}
		readSection(said, string(text), func(section string) bool {
			return section == file.section || name == "default" && section == name
		})
	}
	return said, nil
}

// readSection reads the lines "name = value" of sections. What is indented belongs to
// settings that have parts, which none of ours has.
func readSection(to map[string]string, text string, wanted func(string) bool) {
	in := false
	for line := range strings.Lines(text) {
		if section, found := strings.CutPrefix(strings.TrimSpace(line), "["); found {
			section, _, _ = strings.Cut(section, "]")
			in = wanted(strings.TrimSpace(section))
			continue
		}
		name, value, found := strings.Cut(line, "=")
		if in && found && strings.IndexAny(line, " \t#;") != 0 {
			to[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
}

// region is where requests are signed for.
func (s Settings) region() string { return cmp.Or(s.Region, "us-east-1") }

// base is the address of a bucket: at Amazon a host of its own, unless its name has dots;
// elsewhere a folder.
func (s Settings) base(bucket string) (*url.URL, error) {
	if s.Endpoint == "" {
		host := "s3." + s.region() + ".amazonaws.com"
		if strings.Contains(bucket, ".") {
			return &url.URL{Scheme: "https", Host: host, Path: "/" + bucket + "/"}, nil
		}
		return &url.URL{Scheme: "https", Host: bucket + "." + host, Path: "/"}, nil
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" && u.Path != "/" {
		return nil, usage.Errorf("s3: AWS_ENDPOINT_URL is not the address of a server; set it to one such as https://host:9000")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + bucket + "/"}, nil
}
