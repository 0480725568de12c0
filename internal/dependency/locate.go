package dependency

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/report"
)

// located is a package of another module, as the go command finds it for the project.
type located struct {
	path   string // import path
	dir    string // empty if it cannot be found
	why    string // it cannot
	module origin
}

// origin is the module of a package.
type origin struct {
	Path, Version string
	Dir           string  // empty if it is vendored and not in the module cache
	Replace       *origin // what it is replaced by
	Main          bool
}

// name is the module's with its version.
func (m origin) name() string {
	name := m.Path
	if m.Version != "" {
		name += "@" + m.Version
	}
	if m.Replace != nil {
		name += " => " + m.Replace.name()
	}
	return name
}

// locate asks the go command where packages are. Packages of the main modules themselves are left out.
func locate(ctx context.Context, p Project, uses uses) ([]located, error) {
	args := append([]string{"list", "-e", "-find", "-json=ImportPath,Dir,Module,Error", "--"}, slices.Sorted(maps.Keys(uses))...)
	out, err := ask(ctx, p, args...)
	if err != nil {
		return nil, err
	}
	var all []located
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var answer struct {
			ImportPath, Dir string
			Module          *origin
			Error           *struct{ Err string }
		}
		if err := decoder.Decode(&answer); errors.Is(err, io.EOF) {
			return all, locateModules(ctx, p, all)
		} else if err != nil {
			return nil, &report.Error{What: "the go command does not report the folders of packages", Where: "go " + strings.Join(args[:4], " "), Err: err}
		}
		l := located{path: answer.ImportPath, dir: answer.Dir}
		switch {
		case answer.Module != nil && answer.Module.Main && below(p.Root, answer.Dir):
			continue
		case answer.Module != nil:
			l.module = *answer.Module
		}
		if answer.Error != nil {
			l.dir, l.why = "", firstLine(answer.Error.Err)
		}
		all = append(all, l)
	}
}

// below reports whether a folder is root or in it.
func below(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// locateModules fills in the folders of modules that are vendored and also in the module cache. It leaves what the go
// command does not know.
func locateModules(ctx context.Context, p Project, all []located) error {
	args := []string{"list", "-e", "-mod=readonly", "-m", "-json=Path,Dir", "--"}
	count := len(args)
	for _, l := range all {
		if l.module.Path != "" && l.module.Dir == "" && !slices.Contains(args[count:], l.module.Path) {
			args = append(args, l.module.Path)
		}
	}
	if len(args) == count {
		return nil
	}
	p.Environ = append(slices.Clone(p.Environ), "GOPROXY=off") // what is not in the cache is generated
	out, err := ask(ctx, p, args...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); err == nil; {
		var answer origin
		if err = decoder.Decode(&answer); err != nil {
			break
		}
		for i := range all {
			if all[i].module.Path == answer.Path && all[i].module.Dir == "" {
				all[i].module.Dir = answer.Dir
			}
		}
	}
	return nil
}

// ask runs the go command in the project, where it writes nothing: in a workspace without vendored modules it would
// complete go.work.sum.
func ask(ctx context.Context, p Project, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd := gocommand.Command{Dir: p.Root, Env: looking(p.Environ), Args: args, Stdout: &out, Stderr: &said}
	if work := gocommand.Workspace(p.Root, p.Environ); work != "" && !isFile(filepath.Join(filepath.Dir(work), "vendor", "modules.txt")) {
		cmd.Copies.Work = work
	}
	err := cmd.Run(ctx)
	refused, isRefused := errors.AsType[*report.Error](err)
	switch {
	case isRefused:
		return nil, refused
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case gocommand.IsMissing(err):
		return nil, &report.Error{What: "the go command is not on PATH", Err: err, Hint: "install Go: https://go.dev/dl"}
	case err != nil:
		return nil, &report.Error{Class: report.BadProject, What: "the go command cannot find the packages that the project imports", Where: p.Root, Err: err,
			Hint: strings.TrimSpace(said.String()), Next: "go list ./..."}
	}
	return out.Bytes(), nil
}

// looking is an environment in which the go command does not complete go.mod and go.sum, which a flag may let it do.
func looking(environ []string) []string {
	environ = slices.Clone(environ)
	for i, variable := range environ {
		if flags, ok := strings.CutPrefix(variable, "GOFLAGS="); ok {
			words := slices.DeleteFunc(strings.Fields(flags), func(word string) bool { return word == "-mod=mod" || word == "--mod=mod" })
			environ[i] = "GOFLAGS=" + strings.Join(words, " ")
		}
	}
	return environ
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
