// Package homebrew writes the formula by which Homebrew installs a release:
//
//	text, err := homebrew.Formula("v0.1.0", sums)
//
// It names the archives by their addresses and checksums. The programs go to libexec, where slipway finds the others
// beside itself.
package homebrew

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"text/template"

	names "github.com/slipway-dev/slipway/internal/release"
)

//go:embed slipway.rb.tmpl
var formula string

// ErrIncomplete is that a platform of Homebrew has no archive.
var ErrIncomplete = errors.New("no checksum of an archive that Homebrew installs")

// Formula is the content of slipway.rb.
func Formula(version string, sums names.Sums) ([]byte, error) {
	parsed, err := template.New("formula").Parse(formula)
	if err != nil {
		return nil, err
	}
	f := values{version, sums}
	var out bytes.Buffer
	if err := parsed.Execute(&out, f); err != nil {
		return nil, fmt.Errorf("write the formula: %w", err)
	}
	return out.Bytes(), nil
}

// values are what the template asks for.
type values struct {
	version string
	sums    names.Sums
}

// Version is the version as Homebrew has it.
func (v values) Version() string { return strings.TrimPrefix(v.version, "v") }

// URL is the address of a platform's archive.
func (v values) URL(goos, goarch string) string {
	return names.Base + v.version + "/" + names.Archive(v.version, goos, goarch)
}

// Sum is its checksum.
func (v values) Sum(goos, goarch string) (string, error) {
	name := names.Archive(v.version, goos, goarch)
	sum, ok := v.sums[name]
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrIncomplete, name)
	}
	return fmt.Sprintf("%x", sum), nil
}
