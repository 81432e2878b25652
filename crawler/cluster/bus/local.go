package bus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/nats-io/nkeys"

	"fossick/internal/reading"
)

// mostSeedBytes bounds the file of a seed, which has 58.
const mostSeedBytes = 1 << 10

// localSecrets is the key of this user's agents on this machine that were given none: their
// servers meet clients and each other on loopback, where else every user of the machine could
// take part. It is a file that this user alone can read, made by the agent that comes first.
func localSecrets() (*Secrets, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("a key for the agents of this machine: %w; set HOME, or give --keys", err)
	}
	dir = filepath.Join(dir, "fossick", "exchange")
	path := filepath.Join(dir, "local.nk")
	seed, err := reading.Secret(path, mostSeedBytes)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeSeed(dir, path); err == nil {
			seed, err = reading.Secret(path, mostSeedBytes)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("a key for the agents of this machine: %w; remove the cause, or give --keys", err)
	}
	s := &Secrets{}
	return s, s.open(seed, path)
}

// makeSeed writes a new seed, unless another process came first.
func makeSeed(dir, path string) error {
	user, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	seed, err := user.Seed()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".seed-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(seed)
	if err = errors.Join(err, f.Close()); err == nil {
		if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// open takes the seed of the NATS user.
func (s *Secrets) open(seed []byte, path string) (err error) {
	seed = bytes.TrimSpace(seed)
	if s.user, err = nkeys.FromSeed(seed); err == nil {
		s.public, err = s.user.PublicKey()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, ErrSecrets)
	}
	sum := sha256.Sum256(append([]byte("fossick routes\x00"), seed...))
	s.routes = url.UserPassword("fossick", hex.EncodeToString(sum[:]))
	return nil
}

// local says whether the secrets are of one machine, without certificates.
func (s *Secrets) local() bool { return s != nil && s.root == nil }
