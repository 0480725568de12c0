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
	if p.OS != "linux" {
		return p, &report.Error{What: "an image for " + p.OS, Where: "--platform", Hint: "managers run on linux here", Code: 2}
	}
	return p, nil
}

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

// Program is a compiled manager.
type Program struct {
	Path     string
	Platform Platform
	Info     *debug.BuildInfo
}

// shown is how much of what the go command said is shown.
const shown = 20

// Compile compiles the manager into a folder of the caller's below dir.
func (m Manager) Compile(ctx context.Context, p Platform, dir string) (Program, error) {
	arguments := append([]string{"build", "-trimpath"}, m.Recipe.Build.Flags...)
	folder := filepath.Join(dir, m.key(p, arguments))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return Program{}, err
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return Program{}, err
	}
	defer lock.Close()
	path := filepath.Join(folder, "manager")
	cmd := exec.CommandContext(ctx, "go", append(arguments, "-o", path, m.Package)...)
	cmd.Dir, cmd.Env = m.Dir, append(os.Environ(), p.environment()...)
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
	return Program{path, p, info}, nil
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

// Created is the time that an image of the program has: SOURCE_DATE_EPOCH's, else that of the commit it was made from, else the
// beginning of time. It is never the time of the day: the same sources are to make the same image.
func (p Program) Created(getenv func(string) string) (time.Time, error) {
	if text := getenv("SOURCE_DATE_EPOCH"); text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds < 0 {
			return time.Time{}, &report.Error{What: "invalid time " + strconv.Quote(text), Where: "SOURCE_DATE_EPOCH", Hint: "seconds since 1970", Code: 2}
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	if when, err := time.Parse(time.RFC3339, p.Setting("vcs.time")); err == nil && p.Setting("vcs.modified") != "true" {
		return when.UTC(), nil
	}
	return time.Unix(0, 0).UTC(), nil
}
