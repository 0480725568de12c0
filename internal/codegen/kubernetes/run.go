package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/gengo/v2"
	"k8s.io/gengo/v2/generator"
	"k8s.io/gengo/v2/namer"
	"k8s.io/gengo/v2/parser"
	"k8s.io/gengo/v2/types"

	"github.com/slipway-dev/slipway/internal/codegen/wire"
)

// packages are the packages of a request, and all that they import, as the
// generators see them. A parser reads each only once, so all runs share them.
type packages struct{ universe types.Universe }

// load parses the packages of all runs, and all that they import.
func load(request wire.Request) (packages, error) {
	if err := os.Chdir(request.Dir); err != nil { // the go command is run here
		return packages{}, err
	}
	var paths []string
	for _, run := range request.Runs {
		paths = append(paths, run.Packages...)
	}
	slices.Sort(paths)
	if len(request.World) > 0 {
		done, err := serveWorld(request.World)
		if err != nil {
			return packages{}, err
		}
		defer done()
	}
	p := parser.NewWithOptions(parser.Options{BuildTags: []string{gengo.StdBuildTag}})
	if err := p.LoadPackages(slices.Compact(paths)...); err != nil {
		return packages{}, err
	}
	universe, err := p.NewUniverse()
	return packages{universe}, err
}

// run runs one generator. Generated files say that the process's name wrote them.
func (p packages) run(run wire.Run) ([]wire.File, error) {
	tool, ok := tools[run.Generator]
	if !ok {
		return nil, fmt.Errorf("unknown generator")
	}
	os.Args[0] = run.Generator
	if run.Name != "" {
		os.Args[0] = run.Name
	}
	arguments := run.Arguments
	if run.Schema != nil {
		file, err := temporary("slipway-codegen-*.json", run.Schema)
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.Remove(file) }()
		arguments = append(slices.Clip(arguments), "--openapi-schema", file)
	}
	prepared, err := tool(run, arguments)
	if err != nil {
		return nil, err
	}
	return p.execute(run, prepared)
}

// execute has the files of a run made in memory.
func (p packages) execute(run wire.Run, t prepared) ([]wire.File, error) {
	memory := &memory{inner: generator.NewGoFile()}
	c := &generator.Context{
		Namers:    t.names,
		Universe:  p.universe,
		Inputs:    slices.Sorted(slices.Values(run.Packages)),
		FileTypes: map[string]generator.FileType{generator.GoFileType: memory},
	}
	for _, tag := range run.Tags {
		if err := addTag(c.Universe, tag); err != nil {
			return nil, err
		}
	}
	orderer := namer.Orderer{Namer: t.names[t.order]}
	c.Order = orderer.OrderUniverse(c.Universe)
	for _, target := range t.targets(c) {
		memory.dir = target.Dir()
		if err := c.ExecuteTarget(elsewhere{target}); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(memory.files, func(a, b wire.File) int { return strings.Compare(a.Path, b.Path) })
	return memory.files, nil
}

func addTag(all types.Universe, tag wire.Tag) error {
	pkg, ok := all[tag.Package]
	if !ok {
		return fmt.Errorf("package %s was not found", tag.Package)
	}
	if tag.Type == "" {
		if !slices.Contains(pkg.Comments, tag.Text) {
			pkg.Comments = append(pkg.Comments, tag.Text)
		}
		return nil
	}
	t, ok := pkg.Types[tag.Type]
	if !ok {
		return nil // a type that no code is generated for, such as one behind a build tag
	}
	if !slices.Contains(slices.Concat(t.CommentLines, t.SecondClosestCommentLines), tag.Text) {
		t.CommentLines = append(t.CommentLines, tag.Text)
	}
	return nil
}

// elsewhere is a target whose folder is made where it harms nobody: its files are
// kept in memory.
type elsewhere struct{ generator.Target }

func (elsewhere) Dir() string { return os.TempDir() }

// memory keeps files in memory instead of writing them.
type memory struct {
	inner *generator.DefaultFileType
	dir   string // of the target being executed
	files []wire.File
}

// AssembleFile is called for each file of a target.
func (m *memory) AssembleFile(f *generator.File, _ string) error {
	var b bytes.Buffer
	m.inner.Assemble(&b, f)
	path := filepath.Join(m.dir, f.Name)
	content, err := m.inner.Format(b.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m.files = append(m.files, wire.File{Path: path, Content: content})
	return nil
}
