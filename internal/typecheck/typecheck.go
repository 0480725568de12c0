// Package typecheck finds out whether a project still compiles after a change that is planned and not written:
//
//	change := typecheck.Change{Root: root, Before: fileview.Disk(root), After: planned, Files: names, Environ: environ, Tool: tool}
//	verdict, err := change.Check(ctx)
//	verdict.Mistakes // what a compiler would report after the change, in packages without mistakes before it
//	verdict.Unknown  // why packages were not checked
//
// It runs go/types on the packages whose files change, their tests, and the packages that import them. It reads the
// project's packages from source and all others from the export data in Go's build cache. It compiles and downloads
// nothing: if the cache lacks a package, the verdict says so.
//
// Generated code counts as up to date: the methods that the generator will add exist, and mistakes in generated files
// are ignored.
package typecheck

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Change is a planned change to the files of a project.
type Change struct {
	Root          string        // the project's folder
	Before, After fileview.View // without and with the change
	Files         []string      // that the change writes or deletes
	Environ       []string      // of the go command
	// Tool is the command that the go command runs in place of compilers; it ends in [ToolWord]. Without it, only
	// packages that an earlier check found are known.
	Tool  []string
	Cache string // folder of memory files, which say where compiled packages are; "" disables them
}

// A Mistake is an error that a compiler would report.
type Mistake struct {
	Position report.Position
	Message  string
}

func (m Mistake) text() string { return m.Position.String() + ": " + m.Message }

// A Verdict is the result of [Change.Check]; see the package documentation.
type Verdict struct {
	Mistakes []Mistake
	Unknown  []string
}

// Check checks the packages that the change may break. The error is that of ctx.
func (c Change) Check(ctx context.Context) (Verdict, error) {
	var verdict Verdict
	for _, dir := range c.modules() {
		err := c.checkModule(ctx, dir, &verdict)
		switch {
		case ctx.Err() != nil:
			return Verdict{}, ctx.Err()
		case err != nil:
			verdict.unknown(err.Error())
		}
	}
	return verdict, nil
}

func (v *Verdict) unknown(why string) {
	if !slices.Contains(v.Unknown, why) {
		v.Unknown = append(v.Unknown, why)
	}
}

// modules returns the folders of the modules that the change may break: those with changed Go files, and the project's.
func (c Change) modules() (dirs []string) {
	changed := false
	for _, file := range c.Files {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		changed = true
		if dir := moduleOf(c.After, path.Dir(file)); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if changed && !slices.Contains(dirs, ".") {
		dirs = append(dirs, ".")
	}
	return dirs
}

// moduleOf returns the nearest folder with a go.mod, from dir upwards, else ".".
func moduleOf(view fileview.View, dir string) string {
	for ; dir != "."; dir = path.Dir(dir) {
		if info, err := view.Stat(path.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return dir
		}
	}
	return dir
}

var errNoModule = errors.New("the project's folder has no go.mod")

func (c Change) checkModule(ctx context.Context, dir string, verdict *Verdict) error {
	after, err := c.read(c.After, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoModule
	}
	if err != nil {
		return err
	}
	known := c.exports(after)
	if err := known.ready(ctx); err != nil {
		return err
	}
	after.settings = known.Settings
	paths, err := after.reached(c.Files)
	if err != nil || len(paths) == 0 {
		return err
	}
	if err := known.find(ctx, after, paths); err != nil {
		return err
	}
	k := newChecker(after, known)
	var broken []result
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch j := k.checkWithTests(path); {
		case j.unknown != "":
			verdict.unknown(j.unknown)
		case len(j.mistakes) > 0:
			broken = append(broken, j)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return c.compare(ctx, dir, known, broken, verdict)
}

// compare adds the mistakes in packages that had none before the change.
func (c Change) compare(ctx context.Context, dir string, known *exports, broken []result, verdict *Verdict) error {
	before, err := c.read(c.Before, dir)
	if err != nil {
		return err
	}
	before.settings = known.Settings
	var paths []string
	for _, j := range broken {
		paths = append(paths, j.path)
	}
	if err := known.find(ctx, before, paths); err != nil {
		return err
	}
	k := newChecker(before, known)
	for _, j := range broken {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch was := k.checkWithTests(j.path); {
		case was.unknown != "":
			verdict.unknown(was.unknown)
		case len(was.mistakes) > 0:
			verdict.unknown("it did not compile before: " + was.mistakes[0].text())
		default:
			verdict.Mistakes = append(verdict.Mistakes, j.mistakes...)
		}
	}
	return nil
}
