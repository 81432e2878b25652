package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/internal/report"
)

type identityCmd struct {
	Init identityInitCmd `cmd:"" help:"Make the key that signs a crawl's requests, and what to publish so that sites know it."`
}

type identityInitCmd struct {
	Host      string `arg:"" help:"Host of yours that will publish the key, such as bot.example.org."`
	Out       string `short:"o" placeholder:"DIR" default:"identity" help:"Folder for key and documents [${default}]."`
	Contact   string `type:"contact" required:"" placeholder:"MAIL|URL" help:"How a site's owner can reach you."`
	UserAgent string `placeholder:"NAME" help:"Name/version that the crawls give [fossick/VERSION]."`
	Purpose   string `type:"purpose" placeholder:"WHAT" help:"Purpose of the crawls: search, answer, training, research or archive." predictor:"search,answer,training,research,archive"`
	Renew     bool   `help:"Make a new key. The one before stays beside it and is published with it."`
}

func (identityInitCmd) Help() string {
	return `Makes an identity by the IETF's Web Bot Auth: an Ed25519 key, the directory in which sites find its public half, and the card that says who crawls and why. Publish what is in the folder site on your host, by https, and send the header fields of headers.txt with the directory. The key stays with you; --sign of a crawl uses it.

Run it again to write the documents anew: the key is kept, unless you give --renew. Then the old key moves to key-1.json. Delete that file and run this again when no crawl uses it.

Examples:
  fossick identity init bot.example.org --contact you@example.org
  fossick identity init bot.example.org --contact you@example.org --renew`
}

// identity tells where the parts of an identity are.
type identity struct {
	Directory string `json:"directory"` // files
	Key       string `json:"key"`
	Card      string `json:"card"`
	Headers   string `json:"headers"`
	URL       string `json:"directory_url"` // where to publish the directory
	CardURL   string `json:"card_url"`
	Made      bool   `json:"made"` // the key is new
	Keys      int    `json:"keys"` // in the directory
	Until     string `json:"until"`
}

// cardPath is the card's place on the host; the draft leaves it to us.
const cardPath = "/agent-card.json"

// provenFor is how long the directory's header proves that its operator has the key.
const provenFor = 365 * 24 * time.Hour

func (c identityInitCmd) Run(a *app) error {
	host, err := publisher(c.Host)
	if err != nil {
		return err
	}
	site := filepath.Join(c.Out, "site")
	made := identity{
		Key: filepath.Join(c.Out, "key.json"), Headers: filepath.Join(c.Out, "headers.txt"),
		Card: filepath.Join(site, filepath.FromSlash(cardPath)), CardURL: "https://" + host + cardPath,
	}
	if err := os.MkdirAll(c.Out, 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(made.Key); err == nil {
		if _, _, err := keysIn(c.Out, made.Key, host); err != nil {
			return err // before a new key takes its place
		}
	}
	if made.Made, err = makeKey(made.Key, host, c.Renew); err != nil {
		return err
	}
	keys, url, err := keysIn(c.Out, made.Key, host)
	if err != nil {
		return err
	}
	made.Keys, made.URL, made.Directory = len(keys), url, filepath.Join(site, filepath.FromSlash(page.Path(url)))
	now := time.Now()
	made.Until = now.Add(provenFor).UTC().Format(time.DateOnly)
	directory, header := fetch.Directory(host, keys, now, now.Add(provenFor))
	var fields strings.Builder
	for _, name := range slices.Sorted(maps.Keys(header)) {
		fields.WriteString(name + ": " + header.Get(name) + "\n")
	}
	card, err := json.MarshalIndent(c.card(made.URL, made.CardURL), "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(made.Directory), 0o755); err != nil {
		return err
	}
	err = errors.Join(writeFile(made.Directory, directory, 0o644), writeFile(made.Headers, []byte(fields.String()), 0o644), writeFile(made.Card, append(card, '\n'), 0o644))
	if err != nil {
		return err
	}
	return a.emit(made, func(w io.Writer) { made.print(w, c.Contact) })
}

// publisher returns the host of an argument, a name or an https URL without a path.
func publisher(text string) (string, error) {
	u, err := url.Parse("https://" + strings.TrimPrefix(text, "https://"))
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" ||
		strings.Trim(strings.ToLower(u.Host), "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" {
		return "", cli.Usagef("%q: want a host that serves https, such as bot.example.org", cli.Cut(text, 100))
	}
	return strings.TrimSuffix(strings.ToLower(u.Host), ":443"), nil
}

// makeKey makes a key's file where there is none. With renew the key before stays, as key-1.json or the next
// free name. It never writes over a key.
func makeKey(path, host string, renew bool) (made bool, err error) {
	_, text := fetch.NewKey(host)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist) && renew:
		for i := 1; errors.Is(err, fs.ErrExist); i++ {
			err = os.Link(path, fmt.Sprintf("%s-%d.json", strings.TrimSuffix(path, ".json"), i))
		}
		if err != nil {
			return false, err
		}
		return true, writeFile(path, text, 0o600)
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, errors.Join(err, os.Remove(path))
	}
	return true, nil
}

// keysIn reads the present key and those before it, and where they are published: at one URL of the host.
func keysIn(dir, present, host string) (keys []*fetch.Key, at string, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", err
	}
	paths := []string{present}
	for _, f := range files {
		if is, _ := filepath.Match("key-*.json", f.Name()); is {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	for _, path := range paths {
		text, err := fileio.Secret(path, 64<<10)
		if err != nil {
			return nil, "", err
		}
		key, err := fetch.ReadKey(text)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
		signer, err := fetch.NewSigner(key, "", time.Now)
		if err != nil || !strings.HasPrefix(signer.String(), "https://"+host+"/") || at != "" && signer.String() != at {
			return nil, "", cli.Usagef("%s is the key of another identity: give its host, or another --out", path)
		}
		keys, at = append(keys, key), signer.String()
	}
	return keys, at, nil
}

func writeFile(path string, text []byte, perm fs.FileMode) error {
	return fileio.Write(path, perm, func(f *os.File) error { _, err := f.Write(text); return err })
}

// agentCard is a Signature Agent Card (draft-meunier-webbotauth-registry).
type agentCard struct {
	ID       string   `json:"client_id"`
	Name     string   `json:"client_name"`
	Page     string   `json:"client_uri,omitempty"`
	Contacts []string `json:"contacts"`
	Keys     string   `json:"jwks_uri"`
	Bot      agentBot `json:"web_bot_auth"`
}

type agentBot struct {
	UserAgent string   `json:"expected-user-agent"`
	Token     string   `json:"rfc9309-product-token"`
	Obeys     bool     `json:"rfc9309-compliance"`
	Trigger   string   `json:"trigger"`
	Purpose   string   `json:"purpose,omitempty"`
	Control   string   `json:"rate-control"`
	Rate      string   `json:"rate-expectation"`
	Known     []string `json:"known-urls"`
}

func (c identityInitCmd) card(directory, id string) agentCard {
	name, _, _ := strings.Cut(cmp.Or(c.UserAgent, "fossick"), "/")
	token, _, _ := strings.Cut(name, " ")
	card := agentCard{ID: id, Name: name, Contacts: []string{c.Contact}, Keys: directory, Bot: agentBot{
		UserAgent: name + "*", Token: token, Obeys: true, Trigger: "crawler", Purpose: strings.ToLower(c.Purpose),
		Control: "Crawl-delay in robots.txt; 429 or 503 with Retry-After",
		Rate:    "one request at a time for each host", Known: []string{"/robots.txt"},
	}}
	if strings.Contains(c.Contact, "://") {
		card.Page = c.Contact
	} else {
		card.Contacts[0] = "mailto:" + c.Contact
	}
	if page.Purpose(card.Bot.Purpose).Mines() {
		card.Bot.Known = append(card.Bot.Known, page.Path(page.TDMRepURL(id)))
	}
	return card
}

func (i identity) print(w io.Writer, contact string) {
	what := "kept"
	if i.Made {
		what = "new"
	}
	cli.Fprintf(w, "%s is the key, %s; it stays with you.\n", i.Key, what)
	cli.Fprintf(w, "Publish %s\n  as %s, with the header fields in %s.\n", i.Directory, i.URL, i.Headers)
	cli.Fprintf(w, "Publish %s\n  as %s.\n", i.Card, i.CardURL)
	cli.Fprintf(w, "The directory lists %s. Its header is valid until %s; run this again before.\n", report.Count(i.Keys, "key"), i.Until)
	cli.Fprintf(w, "Sign a crawl: fossick focus --sign %s --contact %s …\n", i.Key, contact)
}
