package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/download"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/protocol"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// tries is how often a build is begun whose sources change while it runs.
const tries = 3

// built downloads a product, or builds it from the sources at hand, and returns where it is.
func (f *Finder) built(ctx context.Context, p *product) (slot, error) {
	for try := 1; ; try++ {
		s, src, err := f.slotOf(p)
		if err != nil {
			return s, err
		}
		if ok, err := f.downloaded(ctx, s, src); ok || err != nil {
			return s, err
		}
		err = f.fill(ctx, s, src)
		if !errors.Is(err, errChanged) {
			return s, err
		}
		if try == tries {
			return s, &report.Error{What: p.what + " could not be built", Where: src.dir, Err: err, Hint: "build it again while no program changes these files"}
		}
		f.Handler.Handle(report.Note{Text: "the sources of " + p.what + " changed during the compilation; slipway compiles it again"})
	}
}

// errChanged is that what was compiled is not what the slot is for.
var errChanged = errors.New("the sources changed during the compilation")

// fill builds the slot's programs from src and puts them into s.
func (f *Finder) fill(ctx context.Context, s slot, src source) error {
	if _, err := exec.LookPath("go"); err != nil {
		return &report.Error{What: s.what + " must be built first, and the go command is not on PATH", Err: errNoGo,
			Hint: "install Go from https://go.dev/dl, or " + s.instead()}
	}
	if err := s.prepare(); err != nil {
		return err
	}
	release, err := s.hold(ctx, f.Handler)
	if err != nil {
		return err
	}
	defer release()
	if s.complete() {
		return nil // by the one that was waited for
	}
	temp, err := s.workshop()
	if err != nil {
		return err
	}
	defer func() {
		_ = userdirs.Remove(temp)
		_ = os.Remove(s.dir) // succeeds only if it stayed empty
	}()
	begin := time.Now()
	if err := f.build(ctx, s.product, src, temp); err != nil {
		return err
	}
	if err := s.accept(ctx, temp, src); err != nil {
		return err
	}
	if key, err := src.key(s.product); err != nil || key != filepath.Base(s.dir) {
		return errors.Join(errChanged, err)
	}
	if err := s.take(temp); err != nil {
		return unusable(err)
	}
	f.Handler.Handle(report.Step{Name: "built " + s.what, Elapsed: time.Since(begin)})
	return s.prune()
}

// build makes the programs in the folder out.
func (f *Finder) build(ctx context.Context, p *product, src source, out string) error {
	dir, err := src.fetch(ctx, p, f.withoutModule(p, src))
	if err != nil {
		return err
	}
	r, err := p.recipe(src, dir, out)
	if err != nil {
		return err
	}
	packages, err := listPackages(ctx, p, dir, r)
	if err != nil {
		return err
	}
	fetchOthers(ctx, p, dir, r)
	if stale(packages) > many {
		f.Handler.Handle(report.Note{Text: p.what + " is compiled once, which takes minutes; after Ctrl-C the next run resumes" + p.without})
	}
	t := newTracker(p, packages, f.Handler)
	defer t.stop()
	if err := (goCommand{product: p, dir: dir, out: out, env: append(collectLess(), r.env...), args: r.args, line: t.line}).run(ctx); err != nil {
		return err
	}
	t.linked()
	return nil
}

// collectLess has the compilers collect their garbage half as often, unless the caller has a wish of his own: a sixth
// of the processor time of a compile from nothing, for a few hundred megabytes in the largest package. What they make
// is the same and so are its keys in Go's cache.
func collectLess() []string {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return []string{"GOGC=200"}
}

// forAll is the mode of programs: those of real nodes are run by the nodes' users as well, whatever the builder's umask
// is.
const forAll = 0o755

// take moves the programs out of the folder in which they were built. The note that tells that the slot is filled comes
// last.
func (s slot) take(built string) error {
	for _, program := range s.programs {
		if err := os.Chmod(filepath.Join(built, fileName(program)), forAll); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(built, fileName(program)), s.file(program)); err != nil {
			return err
		}
	}
	n, err := noteOf(s.dir, filepath.Base(s.dir), s.programs)
	if err != nil {
		return err
	}
	there, _ := readNote(s.dir)
	for _, program := range s.others {
		if is, known := there.Files[program]; known && there.Key == n.Key {
			n.Files[program] = is
		}
	}
	return n.write(s.dir)
}

// many is how many packages take long to compile; the cluster program has some 2,700, the checker 700.
const many = 300

// fetch returns the folder of the sources, having downloaded them if need be.
func (src source) fetch(ctx context.Context, p *product, hint string) (dir string, err error) {
	if src.dir != "" {
		return src.dir, notCompiled(process.TrustAll(src.dir))
	}
	return fetchModule(ctx, p, src.version, hint)
}

// fetchOthers downloads the modules that the other programs of the slot need, so that these can be compiled without a
// network later. Where that fails they are downloaded when the program is needed.
func fetchOthers(ctx context.Context, p *product, dir string, r recipe) {
	if len(p.others) > 0 {
		_, _ = goOutput(ctx, p, dir, r.env, slices.Concat([]string{"list", "-deps"}, r.alike, mains(p.others))...)
	}
}

// withoutModule is what helps where the go command cannot have a module, as in a closed network.
func (f *Finder) withoutModule(p *product, src source) string {
	hint := "set GOPROXY to a proxy that has the module, SLIPWAY_SOURCE to a checkout of " + Module + ", or " + p.instead()
	if _, err := f.stamp.Key(); err == nil && src.hasArchive(p) {
		return download.Variable + "=https://mirror.example.com/slipway takes the programs from a mirror of the releases; or " + hint
	}
	return hint
}

// accept refuses a program that was built but cannot be used. The checker is asked for its protocol whenever it
// answers.
func (s slot) accept(ctx context.Context, built string, src source) error {
	if s.last() != name {
		return nil
	}
	v, err := probe(ctx, filepath.Join(built, fileName(name)))
	if err == nil && v.Protocol != protocol.Number {
		err = otherProtocol(v)
	}
	if err == nil {
		return nil
	}
	where := src.dir
	if where == "" {
		where = s.lastPackage() + "@" + src.version
	}
	e := &report.Error{What: "the cluster program that was built cannot be used", Where: where, Err: err}
	if errors.Is(err, errProtocol) {
		e.Hint = "build slipway from the same folder as the cluster program"
		e.Next = "go install ./cmd/slipway"
	}
	return e
}

// shownErrors is how many lines of a failed build are shown.
const shownErrors = 12

// buildError tells what the go command said.
func buildError(p *product, dir string, args []string, lines []string, err error) error {
	if len(lines) > shownErrors {
		lines = append(lines[:shownErrors:shownErrors], "…")
	}
	e := &report.Error{What: p.what + " could not be built", Where: dir, Err: err,
		Next: "(cd " + dir + " && go " + args[0] + " " + strings.Join(mains(p.programs), " ") + ")"}
	switch {
	case p.pin != "":
		e.Next = "go mod download " + generatorModule + "@" + p.pin
	case args[0] == "install":
		e.Next = "go install " + strings.Join(args[len(args)-len(p.programs):], " ")
	}
	if len(lines) > 0 {
		e.Hint = strings.Join(lines, "\n")
	}
	return e
}
