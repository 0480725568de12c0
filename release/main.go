// Command release makes a release: archives with all programs for each platform, packages for distributions, npm and
// Homebrew, a container image, bills of materials, checksums and their signature.
//
//	make release VERSION=v0.1.0 PUBLIC_KEY=...
//	make sign VERSION=v0.1.0
//
// The private key is the base64 of an ed25519 seed in SLIPWAY_RELEASE_KEY, which making the files does not need.
// docs/inside/release.md is the guide.
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

	naming "github.com/slipway-dev/slipway/internal/release"
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

// run makes or signs the release and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	h, err := ui.New(stdout, stderr, ui.Options{})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	o, sign, err := options(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	o.Handler = h
	switch {
	case err != nil:
	case sign:
		err = assemble.Sign(o)
	default:
		err = assemble.Make(ctx, o)
	}
	if err != nil {
		return ui.Fail(h, err)
	}
	return 0
}

// options reads the flags and the environment.
func options(args []string, stderr io.Writer) (o assemble.Options, sign bool, err error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", ".", "`folder` of the repository")
	flags.StringVar(&o.Version, "version", "", "`version` to release, such as v0.1.0")
	targets := flags.String("targets", "", "`platforms` such as linux/amd64,windows/arm64, for a part of a release")
	programs := flags.String("programs", "", "`programs` besides slipway, for a part of a release")
	public := flags.String("public-key", "", "`key`, in base64, that is stamped into slipway; that of "+keyVariable+" if it is left out")
	flags.BoolVar(&sign, "sign", false, "only sign what was made, with "+keyVariable)
	if err := flags.Parse(args); err != nil {
		return o, sign, err
	}
	for _, target := range list(*targets) {
		goos, goarch, _ := strings.Cut(target, "/")
		o.Platforms = append(o.Platforms, [2]string{goos, goarch})
	}
	o.Programs = list(*programs)
	if o.Dir, err = filepath.Abs(*dir); err != nil {
		return o, sign, err
	}
	o.PublicKey, o.Key, err = pair(strings.TrimSpace(*public))
	return o, sign, err
}

// list splits words at commas and spaces.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// errPair is that two keys have nothing to do with each other.
var errPair = errors.New("it is not that of the private key in " + keyVariable)

// pair is the key of the flag and the one of the environment, either of which may be left out.
func pair(given string) (public ed25519.PublicKey, private ed25519.PrivateKey, err error) {
	if private, err = takeKey(); err != nil {
		return nil, nil, err
	}
	if private != nil {
		public, _ = private.Public().(ed25519.PublicKey)
	}
	if given == "" {
		return public, private, nil
	}
	stamped, err := naming.Stamp{PublicKey: given}.Key()
	if err == nil && private != nil && !stamped.Equal(public) {
		err = errPair
	}
	if err != nil {
		return nil, nil, &report.Error{What: "the public key cannot be used", Where: "--public-key", Err: err, Hint: "the base64 of an ed25519 key, which has 32 bytes"}
	}
	return stamped, private, nil
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
