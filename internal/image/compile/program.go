package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/sourcedate"
)

// Program is a compiled manager. Until it is closed no other process compiles another one into its place, or removes
// it.
type Program struct {
	Path     string
	Platform Platform
	Info     *debug.BuildInfo
	lock     *flock.Flock
}

// Close lets others compile into the program's place.
func (p Program) Close() error { return p.lock.Close() }

// Digest is the SHA-256 of the program's contents, in hexadecimal.
func (p Program) Digest() (string, error) {
	f, err := os.Open(p.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Setting is what the go command noted in the program under that name, such as vcs.revision.
func (p Program) Setting(name string) string {
	for _, s := range p.Info.Settings {
		if s.Key == name {
			return s.Value
		}
	}
	return ""
}

// Created is the time that an image of the program has: SOURCE_DATE_EPOCH's, else that of the commit it was made from,
// else the beginning of time. It is never the time of the day: the same sources are to make the same image.
func (p Program) Created(getenv func(string) string) (time.Time, error) {
	if when, set, err := sourcedate.Read(getenv); set || err != nil {
		return when, err
	}
	if when, err := time.Parse(time.RFC3339, p.Setting("vcs.time")); err == nil && p.Setting("vcs.modified") != "true" {
		return when.UTC(), nil
	}
	return time.Unix(0, 0).UTC(), nil
}
