package schemapatch

import (
	"context"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/slipway-dev/slipway/internal/generate/internal/crd"
	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/report"
)

const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// Options are the generator's options.
type Options struct {
	Manifests                  string `doc:"is the folder with the CustomResourceDefinitions"`
	MaxDescLen                 *int   `doc:"is the greatest length of descriptions; 0 leaves them out"`
	GenerateEmbeddedObjectMeta *bool  `doc:"writes the schema of metadata within other types too"`
}

// Generator is the generator "schemapatch".
func Generator() generator.Generator {
	return generator.New("schemapatch", "puts schemas into existing CustomResourceDefinitions", crd.Generator().Markers, run)
}

func run(ctx context.Context, pass *generator.Pass, options Options) error {
	kinds := crd.Kinds(pass)
	if len(kinds) == 0 && !slices.ContainsFunc(pass.Roots, importsMeta) {
		return nil // there are no kinds to be found
	}
	files, err := readFolder(pass, options.Manifests)
	if err != nil {
		return err
	}
	p := patcher{
		pass:    pass,
		writing: schema.Writing{MaxDescription: options.MaxDescLen, Anywhere: !pass.Loader.Edition().Schemas.CutAtWords},
		builder: schema.NewBuilder(pass.Loader, schema.Options{
			EmbeddedObjectMeta: options.GenerateEmbeddedObjectMeta != nil && *options.GenerateEmbeddedObjectMeta,
		}),
	}
	for _, k := range kinds {
		p.patchKind(k, files)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, f := range files {
		content, err := f.encode()
		if err != nil {
			return &report.Error{What: "the manifest cannot be written", Where: f.path, Err: err}
		}
		pass.Config(filepath.Base(f.path), content)
	}
	return nil
}

// importsMeta reports whether a file of the package imports metav1.
func importsMeta(p *load.Package) bool {
	for _, path := range p.GoFiles() {
		data, err := p.Loader().ReadFile(path)
		if err != nil {
			continue // reading the package tells it
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ImportsOnly)
		if err != nil {
			continue // as above
		}
		for _, spec := range file.Imports {
			if imported, _ := strconv.Unquote(spec.Path.Value); imported == metaPath {
				return true
			}
		}
	}
	return false
}

// patcher puts schemas into files.
type patcher struct {
	pass    *generator.Pass
	writing schema.Writing
	builder *schema.Builder
}

// patchKind puts the schemas of a kind into the files that define it.
func (p *patcher) patchKind(k crd.Kind, files []*manifest) {
	files = slices.DeleteFunc(slices.Clone(files), func(f *manifest) bool { return f.group != k.Group || f.kind != k.Name })
	schemas := make(map[string]*schema.Schema)
	for _, v := range k.Versions {
		i := slices.IndexFunc(files, func(f *manifest) bool { return slices.Contains(f.versions, v.Name) })
		switch {
		case i < 0:
		case v.Decl == nil:
			p.pass.Report(report.Finding{
				Rule:       report.RulePatchedManifest,
				Position:   report.Position{File: files[i].path},
				Message:    "the type " + k.Name + " is missing in package " + v.Package.Path + ", which is version " + v.Name,
				Suggestion: "declare it, or remove the version from the CRD",
				Fatal:      true,
			})
		default:
			schemas[v.Name] = v.Schema(p.builder)
		}
	}
	if len(schemas) == 0 {
		return
	}
	for _, f := range files {
		p.pass.Report(f.patch(schemas, p.writing)...)
	}
}
