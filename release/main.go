// Command release makes a release: archives with all programs for each platform, packages for distributions, npm and
// Homebrew, a container image, bills of materials, checksums and their signature.
//
//	make release VERSION=v0.1.0
//	go run -C release . -dir "$PWD" -version v0.1.0 -targets linux/amd64 -programs slipway-check
//
// The private key is the base64 of an ed25519 seed in SLIPWAY_RELEASE_KEY. docs/inside/release.md is the guide.
package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
	"github.com/slipway-dev/slipway/release/internal/assemble"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// keyVariable is the variable with the private key.
const keyVariable = "SLIPWAY_RELEASE_KEY"

// run makes the release and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	h, err := ui.New(stdout, stderr, ui.Options{})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	o, err := options(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		o.Key, err = takeKey()
	}
	if err == nil {
		o.Handler = h
		err = assemble.Make(ctx, o)
	}
	if err != nil {
		return ui.Fail(h, err)
	}
	return 0
}

// options reads the flags.
func options(args []string, stderr io.Writer) (o assemble.Options, err error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", ".", "`folder` of the repository")
	flags.StringVar(&o.Version, "version", "", "`version` to release, such as v0.1.0")
	targets := flags.String("targets", "", "`platforms` such as linux/amd64,windows/arm64, for a part of a release")
	programs := flags.String("programs", "", "`programs` besides slipway, for a part of a release")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	for _, target := range list(*targets) {
		goos, goarch, _ := strings.Cut(target, "/")
		o.Platforms = append(o.Platforms, [2]string{goos, goarch})
	}
	o.Programs = list(*programs)
	o.Dir, err = filepath.Abs(*dir)
	return o, err
}

// list splits words at commas and spaces.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// errKey is that a key cannot be one. Its text has nothing of the key.
var errKey = errors.New("not the base64 of an ed25519 seed, which has 32 bytes")

// takeKey takes the private key out of the environment, so that no program that is started has it there. It is nil if
// there is none.
func takeKey() (ed25519.PrivateKey, error) {
	text := strings.TrimSpace(os.Getenv(keyVariable))
	if err := os.Unsetenv(keyVariable); err != nil || text == "" {
		return nil, err
	}
	seed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, &report.Error{What: "the private key cannot be read", Where: keyVariable, Err: errKey}
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
