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

// settings are the variables of the go command that decide which files are built.
type settings struct{ GOOS, GOARCH, CGO_ENABLED, GOFLAGS string }

// context returns the build context that matches files as the go command would.
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

// exports provides compiled packages that are not read from source.
type exports struct {
	change Change
	memory string // path of the memory file, or ""
	remembered
	why map[string]string // by import path, why a package is not available
	gc  types.Importer
}

// remembered is the content of the memory file.
type remembered struct {
	Settings settings
	Files    map[string]string // export data in Go's build cache, by import path
}

// exports returns what earlier checks found for the same module versions, Go version and settings.
func (c Change) exports(of *moduleSources) *exports {
	e := &exports{change: c, remembered: remembered{Files: map[string]string{}}, why: map[string]string{}}
	e.gc = importer.ForCompiler(token.NewFileSet(), "gc", e.open)
	if c.Cache != "" {
		texts := of.versionInputs
		if of.vendored() { // vendored packages may differ from those versions
			texts = append(slices.Clone(texts), c.Root, of.dir)
		}
		e.memory = filepath.Join(c.Cache, keyOf(c.Environ, texts)+".json")
		e.recall()
	}
	return e
}

func (e *exports) open(importPath string) (io.ReadCloser, error) { return os.Open(e.Files[importPath]) }

// Import implements [types.Importer]. The error's text is a sentence for a verdict.
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

// ready gets the settings from the go command unless they are remembered.
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

// find locates the export data that checking the packages needs. It fills e.why for packages that are not available.
func (e *exports) find(ctx context.Context, of *moduleSources, paths []string) error {
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

// answer is an entry of go list's output.
type answer struct {
	ImportPath, Dir, Export string
	Error                   *struct{ Err string }
}

// ask runs go list to find export data in the build cache.
func (e *exports) ask(ctx context.Context, of *moduleSources, paths []string) error {
	tool := ""
	for _, word := range e.change.Tool {
		tool += " " + quoted(word)
	}
	// Dependencies are remembered as well, so that a later change finds them without asking.
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

// vendored reports whether the module has a vendor folder.
func (k *moduleSources) vendored() bool {
	_, err := k.roots[0].view.Stat(path.Join(k.dir, "vendor/modules.txt"))
	return err == nil
}

// quoted quotes a word for a flag of the go command, such as -toolexec.
func quoted(word string) string {
	if !strings.ContainsAny(word, " \t\n'\"") {
		return word
	}
	if strings.Contains(word, "'") {
		return `"` + word + `"`
	}
	return "'" + word + "'"
}

// copyModule writes go.mod and go.sum as the change leaves them into a new folder, where the go command may edit them.
func (k *moduleSources) copyModule() (userdirs.Scratch, error) {
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

// run runs the go command and returns its standard output. The error has its standard error. It can neither download
// nor edit go.mod.
func (e *exports) run(ctx context.Context, cmd gocommand.Command, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Args, cmd.Stdout, cmd.Stderr = args, &out, &said
	// GOPROXY=off does not stop fetching private modules from their repositories; the next two variables do. PKG_CONFIG
	// keeps cgo packages that are not compiled from running pkg-config with words of their source.
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

func line(said string) string { return strings.Join(strings.Fields(said), " ") }

// readonly removes the flag -mod=mod, with which the go command edits go.mod, from GOFLAGS.
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
