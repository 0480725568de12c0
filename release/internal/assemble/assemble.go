// Package assemble makes a release: all files that are published under a version, in one folder.
//
//	err := assemble.Make(ctx, assemble.Options{Dir: repository, Version: "v0.1.0", PublicKey: public, Handler: h})
//	err = assemble.Sign(assemble.Options{Dir: repository, Version: "v0.1.0", Key: private, Handler: h})
//
// The folder is dist/<version> in the repository. Work that was cut off goes on from dist/.work, which has a folder for
// each version and commit: compiled programs, and a record of the files that are complete. The bytes of all files
// follow from the commit, the version, the public key and Go.
package assemble

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	names "github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/release/internal/commit"
	"github.com/slipway-dev/slipway/release/internal/goinstall"
	"github.com/slipway-dev/slipway/release/internal/modproxy"
	"github.com/slipway-dev/slipway/release/internal/record"
)

// Options say what to release.
type Options struct {
	Dir     string // the repository
	Version string
	Handler report.Handler

	// PublicKey is stamped into slipway, and is a file of the release. Without one, slipway downloads nothing.
	PublicKey ed25519.PublicKey
	Key       ed25519.PrivateKey // of the same pair; nil for a release that is signed later, or never

	// Platforms and Programs narrow the release, for a try; empty means all. slipway itself is always there.
	Platforms [][2]string
	Programs  []string
}

// errVersion is that a version is none of a release.
var errVersion = errors.New("not a whole semantic version")

// check refuses options that make no release.
func (o Options) check() error {
	if !semver.IsValid(o.Version) || semver.Canonical(o.Version) != o.Version {
		return &report.Error{What: "invalid version", Where: "--version", Err: errVersion, Hint: "such as v0.1.0 or v0.2.0-rc.1"}
	}
	for _, p := range o.Platforms {
		if !names.Has(p[0], p[1]) {
			return &report.Error{What: "no platform of releases: " + p[0] + "/" + p[1], Where: "--targets", Hint: "such as linux/amd64,windows/arm64"}
		}
	}
	for _, p := range o.Programs {
		if !slices.Contains(names.Programs("linux"), p) {
			return &report.Error{What: "no program of releases: " + p, Where: "--programs", Hint: strings.Join(names.Programs("linux"), ", ")}
		}
	}
	return nil
}

// narrowed reports whether the release is only a try.
func (o Options) narrowed() bool { return len(o.Platforms) > 0 || len(o.Programs) > 0 }

// platforms are those of the release.
func (o Options) platforms() [][2]string {
	if len(o.Platforms) > 0 {
		return o.Platforms
	}
	return names.Platforms()
}

// wants reports whether a program is part of the release.
func (o Options) wants(program string) bool {
	return program == "slipway" || len(o.Programs) == 0 || slices.Contains(o.Programs, program)
}

// maker makes one release.
type maker struct {
	Options
	commit   commit.Commit
	compiler goinstall.Compiler
	work     *record.Work
	place    string                 // where its programs lie
	dist     string                 // the folder of the release
	sums     names.Sums             // of the files there
	built    map[[2]string][]binary // by platform
}

// binary is a compiled program.
type binary struct {
	name, path string
	sum        record.Sum
}

// Make makes a release.
func Make(ctx context.Context, o Options) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	t, err := commit.Read(ctx, o.Dir)
	if err != nil {
		return err
	}
	m, err := newMaker(o, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.work.Close()) }()
	if o.PublicKey == nil {
		o.Handler.Handle(report.Warning{Text: "no public key, and no SLIPWAY_RELEASE_KEY: the programs download nothing, and the checksums are not signed"})
	}
	if o.narrowed() {
		o.Handler.Handle(report.Warning{Text: "this is a part of a release, for a try: do not publish it"})
	}
	return m.all(ctx)
}

// dist is the folder of the release.
func (o Options) dist() string { return filepath.Join(o.Dir, "dist", o.Version) }

// shortened is how much of a commit names the folder of its work.
func shortened(t commit.Commit) string {
	const short = 12
	return t.Hash[:min(short, len(t.Hash))]
}

// newMaker prepares the folders.
func newMaker(o Options, t commit.Commit) (*maker, error) {
	m := &maker{Options: o, commit: t, sums: names.Sums{}, built: map[[2]string][]binary{}, dist: o.dist()}
	m.place = filepath.Join(o.Dir, "dist", ".work", o.Version+"-"+shortened(t))
	var err error
	if m.work, err = record.Open(m.place); err != nil {
		return nil, err
	}
	stamp := names.Stamp{Commit: t.Hash, Date: t.Date.Format(time.RFC3339)}
	if o.PublicKey != nil {
		stamp.PublicKey = base64.StdEncoding.EncodeToString(o.PublicKey)
	}
	m.compiler = goinstall.Compiler{Commit: t, Version: o.Version, Stamp: stamp, Modules: filepath.Join(m.place, "modules")}
	if m.compiler.Proxy, err = modproxy.Write(filepath.Join(m.place, "proxy"), o.Version, t); err != nil {
		return nil, errors.Join(err, m.work.Close())
	}
	return m, errors.Join(os.MkdirAll(m.dist, 0o755), m.unsigned())
}

// unsigned removes the checksums of an earlier run: a release that is being made has none.
func (m *maker) unsigned() error {
	for _, name := range []string{names.SumsName, names.SignatureName} {
		if err := os.Remove(filepath.Join(m.dist, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// all makes everything, platform after platform, so that what is cut off has whole archives.
func (m *maker) all(ctx context.Context) error {
	for _, p := range m.platforms() {
		for _, step := range []func(context.Context, [2]string) error{m.programs, m.archive, m.bill, m.npm, m.distros} {
			if err := step(ctx, p); err != nil {
				return err
			}
		}
	}
	for _, step := range []func(context.Context) error{m.npmRoot, m.formula, m.image, m.publicKey} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(m.tidy(), m.finish()); err != nil {
		return err
	}
	return m.forget()
}

// do does a step, whose files are in the release, and reports it.
func (m *maker) do(ctx context.Context, key string, name string, make func(ctx context.Context, file string) error) error {
	path := filepath.Join(m.dist, name)
	begin := time.Now()
	sums, kept, err := m.work.Do(ctx, record.Step{Key: record.Key(name, key), Files: []string{path}, Make: func(ctx context.Context, temp string) error {
		return make(ctx, filepath.Join(temp, name))
	}})
	if err != nil {
		return err
	}
	m.sums[name] = sums[0]
	m.report(name, kept, begin)
	return nil
}

// report reports a step.
func (m *maker) report(what string, kept bool, begin time.Time) {
	if kept {
		m.Handler.Handle(report.Step{Name: "kept " + what, Elapsed: time.Since(begin)})
		return
	}
	m.Handler.Handle(report.Step{Name: "made " + what, Elapsed: time.Since(begin)})
}
