package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// typeChecks finds out whether what scripts leave behind compiles. A package of a script's own modules is read from its
// source; one of another module or of Go is read once for all scripts, as Go's build cache has it compiled.
type typeChecks struct {
	mu   sync.Mutex
	read []*dependencies
}

// dependencies are packages that were compiled with one version of each module.
type dependencies struct {
	settings string            // what else they were compiled with
	versions map[string]string // of the modules, by their paths
	exports  map[string]string // files of compiled packages, by import paths
	files    *token.FileSet
	importer types.Importer
}

// listedPackage is a package as go list -json describes it.
type listedPackage struct {
	ImportPath, Dir  string
	Standard         bool
	GoFiles, Imports []string
	ImportMap        map[string]string
	Module           *struct {
		Path, Version, GoVersion string
		Replace                  *struct{ Path, Version string }
	}
	Error *struct{ Pos, Err string }
}

// version identifies the files of the package's module. It is empty if they are in a folder of the script.
func (p listedPackage) version() string {
	switch {
	case p.Module.Replace == nil:
		return p.Module.Version
	case p.Module.Replace.Version == "":
		return ""
	}
	return p.Module.Replace.Path + "@" + p.Module.Replace.Version
}

// fromSource reports whether the package is checked, not imported. The main function of tests is go test's own.
func (p listedPackage) fromSource() bool {
	return p.Module != nil && p.version() == "" && !strings.HasSuffix(p.ImportPath, ".test")
}

// command is the script command `[!] compiles [FLAGS] [PACKAGES]`: the packages, by default all in the current folder
// and below, have no error that the compiler or the go command would report, and neither have their tests. FLAGS are go
// list's. The errors are there for stderr.
func (c *typeChecks) command(ts *testscript.TestScript, neg bool, args []string) {
	flags, patterns := []string{}, args
	for len(patterns) > 0 && strings.HasPrefix(patterns[0], "-") {
		flags, patterns = append(flags, patterns[0]), patterns[1:]
	}
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	err := c.check(ts, flags, patterns)
	if err != nil {
		_, _ = fmt.Fprintln(ts.Stderr(), err)
	}
	switch {
	case err != nil && !neg:
		ts.Fatalf("it does not compile")
	case err == nil && neg:
		ts.Fatalf("it compiles")
	}
}

func (c *typeChecks) check(ts *testscript.TestScript, flags, patterns []string) error {
	// Without EmbedFiles go list does not look for the files that are embedded.
	out, err := goList(ts, append(flags, "-e", "-deps", "-test", "-json=ImportPath,Dir,Standard,GoFiles,EmbedFiles,Imports,ImportMap,Module,Error"), patterns)
	if err != nil {
		return err
	}
	var listed []listedPackage // each after those that it imports
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		listed = append(listed, p)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.dependencies(strings.Join(append(flags, ts.Getenv("GOFLAGS")), " "), listed)
	if err := d.complete(ts, flags, listed); err != nil {
		return err
	}
	return d.check(listed)
}

// goList runs go list in the script's folder, with the script's settings of Go.
func goList(ts *testscript.TestScript, flags, patterns []string) ([]byte, error) {
	settings, err := goEnv()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append(append([]string{"list"}, flags...), patterns...)...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), os.Environ()
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

// dependencies returns those that have no module of the list in another version. A package's export data follow from
// these versions, whichever script asks.
func (c *typeChecks) dependencies(settings string, listed []listedPackage) *dependencies {
	for _, d := range c.read {
		if d.settings == settings && d.agree(listed) {
			return d
		}
	}
	d := &dependencies{settings: settings, versions: map[string]string{}, exports: map[string]string{}, files: token.NewFileSet()}
	d.importer = importer.ForCompiler(d.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(d.exports[path]) })
	c.read = append(c.read, d)
	return d
}

func (d *dependencies) agree(listed []listedPackage) bool {
	for _, p := range listed {
		if p.Module == nil || p.version() == "" {
			continue
		}
		if known, ok := d.versions[p.Module.Path]; ok && known != p.version() {
			return false
		}
	}
	return true
}

// complete adds what packages of the list import and was not read before.
func (d *dependencies) complete(ts *testscript.TestScript, flags []string, listed []listedPackage) error {
	imported := map[string]bool{}
	for _, p := range listed {
		if p.Module != nil && p.version() != "" {
			d.versions[p.Module.Path] = p.version()
		}
		for _, path := range p.Imports {
			imported[path] = imported[path] || p.fromSource()
		}
	}
	var missing []string
	for _, p := range listed {
		if imported[p.ImportPath] && d.exports[p.ImportPath] == "" && !p.fromSource() && p.Error == nil && p.ImportPath != "unsafe" {
			missing = append(missing, p.ImportPath)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// All that these import is asked for as well: it is in the list, and another script needs it next.
	out, err := goList(ts, append(flags, "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"), missing)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		d.exports[path] = file
	}
	return err
}

var (
	errNoPackages = errors.New("there are no packages")
	errNoMain     = errors.New("function main is undeclared in the main package")
)

// check reports what is wrong with the packages.
func (d *dependencies) check(listed []listedPackage) error {
	var wrong []error
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, p := range listed {
		if p.Error != nil {
			wrong = append(wrong, fmt.Errorf("%s: %s: %s", p.Error.Pos, p.ImportPath, p.Error.Err))
		}
		if !p.fromSource() || len(p.GoFiles) == 0 {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(d.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			files = append(files, file)
		}
		config := types.Config{
			GoVersion: "go" + p.Module.GoVersion,
			Sizes:     types.SizesFor("gc", runtime.GOARCH),
			Error:     func(err error) { wrong = append(wrong, err) },
			Importer: importFunc(func(path string) (*types.Package, error) {
				if mapped, ok := p.ImportMap[path]; ok {
					path = mapped
				}
				if source, ok := checked[path]; ok {
					return source, nil
				}
				return d.importer.Import(path)
			}),
		}
		made, _ := config.Check(p.ImportPath, d.files, files, nil) // its errors are reported already
		if made.Name() == "main" && made.Scope().Lookup("main") == nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", p.ImportPath, errNoMain))
		}
		checked[p.ImportPath] = made
	}
	if len(wrong) == 0 && len(checked) == 1 { // unsafe alone
		return errNoPackages
	}
	return errors.Join(wrong...)
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }
