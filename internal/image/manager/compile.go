package manager

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
)

// Platform is a system and a processor, like linux/arm64 or linux/arm/v7.
type Platform struct{ OS, Arch, Variant string }

// ParsePlatform reads OS/ARCH or OS/ARCH/VARIANT.
func ParsePlatform(text string) (Platform, error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return Platform{}, &report.Error{What: "invalid platform " + strconv.Quote(text), Where: "--platform", Hint: "like linux/amd64 or linux/arm64", Code: 2}
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	if p.OS != "linux" && p.OS != "darwin" { // the latter for pods that are plain processes of a Mac
		return p, &report.Error{What: "an image for " + p.OS, Where: "--platform", Hint: "managers run on linux, or as plain processes on darwin", Code: 2}
	}
	if known := variants[p.Arch]; p.Variant != "" && !slices.Contains(known, p.Variant) {
		e := &report.Error{What: "there is no variant " + p.Variant + " of " + p.Arch, Where: "--platform", Code: 2}
		if len(known) > 0 {
			e.Hint = "it has " + strings.Join(known, ", ")
		}
		return p, e
	}
	return p, nil
}

// variants are those of processors that programs can be compiled for.
var variants = map[string][]string{"amd64": {"v1", "v2", "v3", "v4"}, "arm": {"v5", "v6", "v7"}, "arm64": {"v8", "v9"}}

// String is what ParsePlatform reads.
func (p Platform) String() string {
	return strings.TrimSuffix(p.OS+"/"+p.Arch+"/"+p.Variant, "/")
}

// environment makes the go command build for the platform.
func (p Platform) environment() []string {
	env := []string{"CGO_ENABLED=0", "GOOS=" + p.OS, "GOARCH=" + p.Arch}
	switch level := strings.TrimPrefix(p.Variant, "v"); {
	case level == "":
	case p.Arch == "arm":
		env = append(env, "GOARM="+level)
	case p.Arch == "amd64":
		env = append(env, "GOAMD64=v"+level)
	case p.Arch == "arm64":
		env = append(env, "GOARM64=v"+level+".0")
	}
	return env
}

// Program is a compiled manager. Until it is closed nobody else compiles another one into its place.
type Program struct {
	Path     string
	Platform Platform
	Info     *debug.BuildInfo
	lock     *flock.Flock
}

// Close lets others compile into the program's place.
func (p Program) Close() error { return p.lock.Close() }

// shown is how much of what the go command said is shown.
const shown = 20

// Compile compiles the manager into a folder of the caller's below dir. Who gets a program closes it.
func (m Manager) Compile(ctx context.Context, p Platform, dir string) (program Program, err error) {
	arguments := append([]string{"build", "-trimpath"}, m.Recipe.Build.Flags...)
	folder := filepath.Join(dir, m.key(p, arguments))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Program{}, err
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return Program{}, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close() // what failed is told
		}
	}()
	path := filepath.Join(folder, "manager")
	cmd := exec.CommandContext(ctx, "go", append(arguments, "-o", path, m.Package)...)
	cmd.Dir, cmd.Env = m.Dir, slices.Concat(os.Environ(), m.Recipe.Build.Env, p.environment())
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return Program{}, m.explain(ctx, p, err, said.String())
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return Program{}, fmt.Errorf("what was compiled: %w", err)
	}
	return Program{path, p, info, lock}, nil
}

// key names the place of a program: by what is compiled, and how.
func (m Manager) key(p Platform, arguments []string) string {
	sum := sha256.Sum256([]byte(strings.Join(append(arguments, m.Dir, m.Package, p.String()), "\x00")))
	return hex.EncodeToString(sum[:16])
}

func (m Manager) explain(ctx context.Context, p Platform, err error, said string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return &report.Error{What: "the go command is not on PATH", Err: err, Hint: "install Go from https://go.dev/dl"}
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) > shown {
		lines = append(lines[:shown:shown], "…")
	}
	return &report.Error{What: "the manager does not compile for " + p.String(), Where: filepath.Join(m.Dir, m.Package), Err: err, Hint: strings.Join(lines, "\n")}
}

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
