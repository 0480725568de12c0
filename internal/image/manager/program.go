package manager

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
)

// Program is a compiled manager. Until it is closed nobody else compiles another one into its place, or removes it.
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

// latest is the last second of the year 9999: what comes later cannot be told in four digits.
const latest = 253402300799

// Created is the time that an image of the program has: SOURCE_DATE_EPOCH's, else that of the commit it was made from, else the
// beginning of time. It is never the time of the day: the same sources are to make the same image.
func (p Program) Created(getenv func(string) string) (time.Time, error) {
	if text := getenv("SOURCE_DATE_EPOCH"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 || seconds > latest {
			return time.Time{}, &report.Error{What: "invalid time " + strconv.Quote(text), Where: "SOURCE_DATE_EPOCH", Hint: "seconds since 1970", Code: 2}
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if when, err := time.Parse(time.RFC3339, p.Setting("vcs.time")); err == nil && p.Setting("vcs.modified") != "true" {
		return when.UTC(), nil
	}
	return time.Unix(0, 0).UTC(), nil
}
