package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/inputs"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/inflection"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/safefs"
)

// remembered is what is kept of a result for a run in which nothing changed.
type remembered struct {
	Files    []string // all of them are up to date
	Left     []string
	Findings []report.Finding
}

// past is what is known of the last run with the same options. The zero value knows nothing and keeps nothing.
type past struct {
	memory *inputs.Memory
	last   *inputs.Last
}

func recall(options Options) past {
	key, ok := options.key()
	if !ok {
		return past{}
	}
	m := inputs.In(options.Cache, key)
	return past{&m, m.Last()}
}

// result is that of the last run if this one's would be the same.
func (p past) result() (result Result, fresh bool) {
	if p.last == nil || !p.last.Fresh() {
		return Result{}, false
	}
	var last remembered
	if json.Unmarshal(p.last.Answer(), &last) != nil {
		return Result{}, false
	}
	result = Result{Findings: last.Findings, Left: last.Left, Recalled: true, memory: p.memory}
	for _, path := range last.Files {
		result.Files = append(result.Files, File{Path: path, Action: report.Unchanged})
	}
	return result, true
}

// beginning is what a run may begin from: what it depends on, what it remembers, which packages it need not read, and
// in which it need not look for mistakes.
type beginning struct {
	inputs    *inputs.Set
	last      memory
	settled   map[string]*load.Facts
	untouched map[string]bool
}

func (p past) begin() beginning {
	var last memory
	switch {
	case p.memory == nil:
		return beginning{inputs: inputs.NewSet()} // which nothing keeps
	case p.last == nil || json.Unmarshal(p.last.Help(), &last) != nil:
		return beginning{inputs: inputs.NewSet()}
	}
	settled, untouched := load.Settled(last.Packages, p.last.Changed())
	if len(settled) == 0 {
		return beginning{inputs: inputs.NewSet(), untouched: untouched}
	}
	return beginning{p.last.Inputs(), last, settled, untouched}
}

// noteInflections notes that the run depends on the files in which users add plurals of theirs.
func noteInflections(inputs *inputs.Set) {
	paths, err := inflection.Files()
	if err != nil {
		inputs.Opaque()
	}
	for _, path := range paths {
		if _, err := inputs.ReadFile(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			inputs.Opaque()
		}
	}
}

// inflectionsThere are those of the files that are there. They belong to the key: a run from another working folder,
// which has others, is another run.
func inflectionsThere() []string {
	paths, err := inflection.Files()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, os.ErrNotExist)
	})
}

// memory is what is kept of a run for one in which some packages have changed and others have not.
type memory struct {
	Packages   []load.Facts
	Plain      []load.PlainFolder
	Generators []generator.Memory // in the order of Uses
}

func (m memory) of(use int) generator.Memory {
	if use >= len(m.Generators) {
		return generator.Memory{}
	}
	return m.Generators[use]
}

func (r *run) memory() memory {
	m := memory{Packages: r.loader.Facts(), Plain: r.loader.Plain()}
	for _, pass := range r.passes {
		m.Generators = append(m.Generators, pass.Memory())
	}
	return m
}

// readKept reads the files that are as they have to be.
func readKept(files []File) error {
	for i := range files {
		if !files[i].kept {
			continue
		}
		content, err := safefs.ReadFile(files[i].Path)
		if err != nil {
			return &report.Error{What: "file cannot be read", Where: files[i].Path, Err: err, Next: "slipway generate"}
		}
		files[i].Content = content
	}
	return nil
}

// save remembers a result whose files are all written. What was printed cannot be
// recalled, and neither can generators that read more than they tell.
func (r *run) save(result Result) {
	isNoted := !slices.ContainsFunc(r.uses, func(u use) bool { return !u.Noted })
	if result.memory == nil || len(result.Printed) > 0 || !isNoted {
		return
	}
	last := remembered{Findings: result.Findings, Left: result.Left}
	var outputs []inputs.Output
	for _, f := range result.Files {
		last.Files = append(last.Files, f.Path)
		if f.kept {
			continue // what is remembered of it still holds, unless somebody has changed it meanwhile
		}
		outputs = append(outputs, inputs.Output{Path: f.Path, Content: f.Content, Ignored: r.loader.LeftOut(f.Path)})
	}
	answer, err := json.Marshal(last)
	help, helpErr := json.Marshal(r.memory())
	if err = errors.Join(err, helpErr); err == nil {
		err = result.memory.Save(r.inputs, outputs, answer, help)
	}
	if err != nil {
		r.events.Handle(report.Note{Text: "the next run reads all files again: " + err.Error()})
	}
}

// Forget makes the next run do everything again, although nothing may have
// changed: for when something that was to follow this one has not been done.
func (r Result) Forget() error {
	var errs []error
	for _, part := range r.parts {
		errs = append(errs, part.Forget())
	}
	if r.memory != nil {
		errs = append(errs, r.memory.Remove())
	}
	return errors.Join(errs...)
}

// key is everything besides files that a result depends on. It is not ok when
// nothing may be kept.
func (o Options) key() (key string, ok bool) {
	if o.Cache == "" {
		return "", false
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", false
	}
	program, err := os.Executable()
	if err == nil {
		program, err = safefs.Identity(program)
	}
	if err != nil {
		return "", false
	}
	o.Dir, o.Events, o.Codegen, o.Files, o.DryRun, o.Cache = dir, nil, nil, nil, false, ""
	o.Within, o.Besides = nil, false // what is remembered is written already
	return fmt.Sprintf("%s\n%#v\n%q\n%q", program, o, environment(), inflectionsThere()), true
}

// environment are the variables that the go command heeds, or that lead to its configuration, and the programs that it
// matters to find: the command itself and the C compilers, without which there is no cgo.
func environment() []string {
	var found []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "GO") || slices.Contains(heeded, name) {
			found = append(found, variable)
		}
	}
	slices.Sort(found)
	for _, name := range []string{"go", "gcc", "clang"} {
		found = append(found, programPath(name))
	}
	return found
}

var heeded = []string{"CC", "CGO_ENABLED", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA", "AppData", "SLIPWAY_CODEGEN", "SLIPWAY_SOURCE", "INFLECT_PATH", "ACRONYMS_PATH"}

// programPath is where PATH leads to under a name, links followed.
func programPath(name string) string {
	program, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		return err.Error()
	}
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		return resolved
	}
	return program
}
