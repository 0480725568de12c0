package program

import (
	"cmp"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
)

// besideSlipway looks for a product beside slipway's own executable, where release archives have it. Programs of
// another version or of other sources than slipway's are passed over, with a warning: one that an older slipway left
// there may speak the same protocol and do something else. So are those of strangers: the folder may be everybody's.
func (f *Finder) besideSlipway(p *product) (path string, ok bool) {
	own, err := f.executable()
	if err != nil || p.pin != "" {
		return "", false
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	dir := filepath.Dir(own)
	path = filepath.Join(dir, fileName(p.last()))
	if !isFile(path) {
		return "", false
	}
	for _, program := range p.programs {
		beside := filepath.Join(dir, fileName(program))
		if err := cmp.Or(process.Trust(beside), f.same(p, beside, program)); err != nil {
			f.passOver(beside, err)
			return "", false
		}
	}
	return path, true
}

// passOver warns of a program that is not used, once.
func (f *Finder) passOver(path string, why error) {
	if _, told := f.told.LoadOrStore(path, true); !told {
		f.Handler.Handle(report.Warning{Text: fmt.Sprintf("%s is not used: %v", path, why)})
	}
}

// Why a program beside slipway is not used.
var (
	errUnknownSources = errors.New("it may have another version, since the note on its sources is missing")
	errOtherSources   = errors.New("it was built from other sources than this slipway")
)

// same says whether a program is of this slipway: by the note beside it, or else by what the go command noted in it. A
// script is what the user put there.
func (f *Finder) same(p *product, path, program string) error {
	if n, ok := readNote(filepath.Dir(path)); ok && n.Files[program] != (state{}) {
		return f.sameKey(p, n, path, program)
	}
	if isScript(path) {
		return nil
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, plain(err))
	}
	switch own := f.revision; {
	case f.version != "" && info.Main.Version == f.version, own != "" && revision(info) == own:
		return nil
	case f.version != "" && info.Main.Version != "" && info.Main.Version != "(devel)":
		return fmt.Errorf("%w: it is %s, slipway %s", errOtherSources, info.Main.Version, f.version)
	case revision(info) != "" && own != "":
		return errOtherSources
	}
	return errUnknownSources
}

func (f *Finder) sameKey(p *product, n note, path, program string) error {
	s, _, err := f.slotOf(p)
	if err != nil {
		return err
	}
	if filepath.Base(s.dir) != n.Key {
		return errOtherSources
	}
	return n.check(filepath.Dir(path), program)
}

// revision is the commit that a program was built from; "" if files had been changed, or none is known.
func revision(info *debug.BuildInfo) string {
	found := map[string]string{}
	for _, s := range info.Settings {
		found[s.Key] = s.Value
	}
	if found["vcs.modified"] != "false" {
		return ""
	}
	return found["vcs.revision"]
}

// ownRevision is the commit that this process was built from.
func ownRevision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return revision(info)
}

// stamp returns the state of the file that an id is made of.
func stamp(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	return fmt.Sprint(path, info.Size(), info.ModTime().UnixNano()), true
}
