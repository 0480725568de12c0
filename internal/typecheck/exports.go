package typecheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// settings are those of the go command that decide which files are built.
type settings struct{ GOOS, GOARCH, CGO_ENABLED, GOFLAGS string }

// context is what files are matched with.
func (s settings) context() build.Context {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = s.GOOS, s.GOARCH, s.CGO_ENABLED == "1"
	for flag := range strings.FieldsSeq(s.GOFLAGS) {
		if tags, is := strings.CutPrefix(strings.TrimLeft(flag, "-"), "tags="); is {
			context.BuildTags = strings.Split(tags, ",")
		}
	}
	return context
}

// exports are compiled packages of other modules and of Go.
type exports struct {
	change Change
	memory string // the file that remembers them
	remembered
	why map[string]string // packages have none
	gc  types.Importer
}

// remembered is what is kept for the next check.
type remembered struct {
	Settings settings
	Files    map[string]string // in Go's build cache, by import paths
}

// exports recalls what an earlier check has found for the same versions of modules, the same Go and the same settings.
func (c Change) exports(of *code) *exports {
	e := &exports{change: c, remembered: remembered{Files: map[string]string{}}, why: map[string]string{}}
	e.gc = importer.ForCompiler(token.NewFileSet(), "gc", e.open)
	if c.Cache != "" {
		texts := of.texts
		if of.vendored() { // by what lies in this folder, whatever the versions say
			texts = append(slices.Clone(texts), c.Root, of.dir)
		}
		e.memory = filepath.Join(c.Cache, keyOf(c.Environ, texts)+".json")
		e.recall()
	}
	return e
}

func (e *exports) open(importPath string) (io.ReadCloser, error) { return os.Open(e.Files[importPath]) }

// Import implements [types.Importer]. Its error is a sentence.
func (e *exports) Import(importPath string) (*types.Package, error) {
	if why := e.why[importPath]; why != "" {
		return nil, errors.New(why)
	}
	made, err := e.gc.Import(importPath)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read from the build cache: %w", importPath, err)
	}
	return made, nil
}

// ready asks for the settings unless they are remembered.
func (e *exports) ready(ctx context.Context) error {
	if e.Settings != (settings{}) {
		return nil
	}
	out, err := e.run(ctx, gocommand.Command{Dir: e.change.Root}, "env", "-json", "GOOS", "GOARCH", "CGO_ENABLED", "GOFLAGS")
	if err != nil {
		return err
	}
	return json.Unmarshal(out, &e.Settings)
}

// find looks for the compiled packages that a check of packages imports.
func (e *exports) find(ctx context.Context, of *code, paths []string) error {
	missing := slices.DeleteFunc(of.external(paths), func(importPath string) bool {
		_, err := os.Stat(e.Files[importPath])
		return err == nil || e.why[importPath] != ""
	})
	if len(missing) == 0 {
		return nil
	}
	for _, importPath := range missing {
		e.why[importPath] = "the build cache does not have " + importPath + " for this project; go test -run=- ./... compiles all that it needs"
	}
	if len(e.change.Tool) == 0 {
		return nil
	}
	if err := e.ask(ctx, of, missing); err != nil {
		return err
	}
	e.keep()
	return nil
}

// answer is that of go list about a package.
type answer struct {
	ImportPath, Dir, Export string
	Error                   *struct{ Err string }
}

// ask asks the go command which compiled packages its cache has.
func (e *exports) ask(ctx context.Context, of *code, paths []string) error {
	tool := ""
	for _, word := range e.change.Tool {
		tool += " " + quoted(word)
	}
	// All that these import is remembered as well: a later change then finds it without asking.
	args := []string{"list", "-e", "-deps", "-export", "-buildvcs=false", "-json=ImportPath,Dir,Export,Error", "-toolexec=" + strings.TrimSpace(tool)}
	cmd := gocommand.Command{Dir: filepath.Join(e.change.Root, filepath.FromSlash(of.dir))}
	switch {
	case of.vendored():
	case of.work != "":
		cmd.Copies.Work = of.work
	default:
		folder, err := of.copyModule()
		if err != nil {
			return err
		}
		defer func() { _ = folder.Remove() }()
		args = append(args, "-modfile="+filepath.Join(folder.Path, "go.mod"))
	}
	out, err := e.run(ctx, cmd, append(append(args, "--"), paths...)...)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var a answer
		if err := decoder.Decode(&a); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the answer of go list: %w", err)
		}
		switch {
		case a.Export != "":
			e.Files[a.ImportPath] = a.Export
			delete(e.why, a.ImportPath)
		case a.Dir == "" && a.Error != nil:
			e.why[a.ImportPath] = line(a.Error.Err)
		}
	}
}

// vendored reports whether the module's folder has the packages of others.
func (k *code) vendored() bool {
	_, err := k.roots[0].view.Stat(path.Join(k.dir, "vendor/modules.txt"))
	return err == nil
}

// quoted is a word as the go command splits those of flags.
func quoted(word string) string {
	if !strings.ContainsAny(word, " \t\n'\"") {
		return word
	}
	if strings.Contains(word, "'") {
		return `"` + word + `"`
	}
	return "'" + word + "'"
}

// copyModule writes the module's go.mod and go.sum, as they will be, into a new folder: the go command may write to
// them there.
func (k *code) copyModule() (userdirs.Scratch, error) {
	folder, err := userdirs.NewScratch("slipway-modules-")
	if err != nil {
		return folder, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, absent := k.roots[0].view.ReadFile(filepath.ToSlash(filepath.Join(k.dir, name)))
		if absent != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder.Path, name), text, 0o600); err != nil {
			return folder, errors.Join(err, folder.Remove())
		}
	}
	return folder, nil
}

// run runs the go command, which neither downloads nor completes go.mod, and returns what it prints. The error has what
// it says.
func (e *exports) run(ctx context.Context, cmd gocommand.Command, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Args, cmd.Stdout, cmd.Stderr = args, &out, &said
	// Modules that the user calls private would be fetched from their repositories, whatever the proxy is.
	// A package of C that is not compiled would start pkg-config with words of its source.
	cmd.Env = append(readonly(e.change.Environ), "GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off", "PKG_CONFIG=false")
	err := cmd.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case gocommand.IsMissing(err):
		return nil, &report.Error{What: "the go command is not on PATH", Err: err}
	case err != nil && strings.TrimSpace(said.String()) != "":
		return nil, fmt.Errorf("go %s: %s", args[0], line(said.String()))
	}
	return out.Bytes(), err
}

// line is what the go command says, in one line.
func line(said string) string { return strings.Join(strings.Fields(said), " ") }

// readonly is an environment without the flag by which the go command completes go.mod.
func readonly(environ []string) []string {
	environ = slices.Clone(environ)
	for i, variable := range environ {
		if flags, is := strings.CutPrefix(variable, "GOFLAGS="); is {
			words := slices.DeleteFunc(strings.Fields(flags), func(word string) bool { return strings.TrimLeft(word, "-") == "mod=mod" })
			environ[i] = "GOFLAGS=" + strings.Join(words, " ")
		}
	}
	return environ
}
