package transaction

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// A Key is a secret of this user on this machine. It seals everything that a run writes, so that nothing else, such as
// a journal in a repository, passes for a run. With an empty key only this process can revert the run: [Recover]
// cannot.
type Key []byte

const keySize = 32

// ReadKey returns the key in a folder of the user, and creates it on the first call.
func ReadKey(folder string) (Key, error) {
	path := filepath.Join(folder, "key")
	if key, err := usableKey(path); key != nil || err != nil {
		return key, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	key := make(Key, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	temp := path + "." + rand.Text()
	if err := (os.WriteFile(temp, key, 0o600)); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	defer func() { _ = os.Remove(temp) }()                                      // the linked name stays
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) { // if two commands create a key, the first wins
		return key, os.Rename(temp, path) // no links on this file system
	}
	return usableKey(path)
}

// usableKey reads the key. It removes one that other users may read, or that is damaged.
func usableKey(path string) (Key, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	open := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
	if !info.Mode().IsRegular() || info.Size() != keySize || open {
		return nil, os.Remove(path)
	}
	return os.ReadFile(path)
}

// sum authenticates data for one purpose, in the folder of that identity.
func (k Key) sum(purpose, identity string, data []byte) string {
	mac := hmac.New(sha256.New, k)
	for _, part := range [][]byte{[]byte(purpose), []byte(identity), data} {
		length := len(part)
		mac.Write([]byte{byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)})
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}
