// Package images is what can be done to images: build, push, pull and load them, and log in to registries.
package images

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Build is which image to build.
type Build struct {
	image.Build        // Dir is the project's
	File        string // archive to save the image into, too; empty for none
	Format      string // of the archive: DockerArchive, OCIArchive or empty, as the platforms need it
}

// The formats of archives.
const (
	DockerArchive = image.Docker
	OCIArchive    = image.OCI
)

// BuildImage builds an image of the project's manager, or of another main package.
func BuildImage(ctx context.Context, s *operation.Session, b Build) (_ image.Image, err error) {
	if b.Dockerfile != "" {
		b.Dockerfile = s.Absolute(b.Dockerfile)
	}
	if folder, is := folderWithoutGo(s, b); is {
		b.Dir, b.Package = folder, ""
	} else if b.Dir, b.Package, err = packageIn(s, b.Package); err != nil {
		return image.Image{}, err
	}
	built, err := image.New(s.Getenv, s.Handler).Build(ctx, b.Build)
	if err != nil {
		return image.Image{}, withGenerate(ctx, s, err)
	}
	if b.File != "" {
		save := image.Save{Ref: b.Tag, File: s.Absolute(b.File), Format: b.Format}
		if _, err := image.New(s.Getenv, s.Handler).Save(ctx, save); err != nil {
			return image.Image{}, err
		}
		s.Handler.Handle(report.File{Path: b.File, Action: report.Created})
	}
	s.Handler.Handle(report.Result{Text: builtText(built), Value: built})
	return built, nil
}

// folderWithoutGo is the folder that an image is built of without a Go module, if it has a Dockerfile: the one that is
// named, as docker build has it, or the working folder.
func folderWithoutGo(s *operation.Session, b Build) (folder string, is bool) {
	at := *s
	at.Dir = s.Absolute(cmp.Or(b.Package, "."))
	return at.Dir, (b.Dockerfile != "" || operation.IsFile(at.Dir, "Dockerfile")) && operation.WithoutGo(&at)
}

// packageIn is the folder of a module and the main package that a word names in it: a package of this project, or an
// absolute path, also into another project. The folder of a module without a main package means its manager, as a
// folder means what its Dockerfile builds to docker build.
func packageIn(s *operation.Session, named string) (dir, pkg string, err error) {
	if !filepath.IsAbs(named) {
		dir, err = operation.Module(s)
		return dir, named, err
	}
	at := *s
	if at.Dir, err = filepath.EvalSymlinks(named); err != nil {
		return "", "", &report.Error{What: "the folder to build cannot be read", Where: named, Err: err, Code: operation.UsageCode}
	}
	if isGo(at.Dir) {
		at.Dir = filepath.Dir(at.Dir)
	}
	if dir, _, err = operation.ModuleRoot(&at); err != nil {
		return "", "", err
	}
	if pkg, err = filepath.Rel(dir, at.Dir); !filepath.IsLocal(pkg) { // a folder above the only project
		pkg = ""
	}
	return dir, pkg, err
}

// withGenerate suggests to generate where a project does not compile and its generated code is out of date: a project
// of kubebuilder has no methods for copies before it was generated, and its kinds are no objects then.
func withGenerate(ctx context.Context, s *operation.Session, err error) error {
	e, ok := errors.AsType[*report.Error](err)
	if _, compiling := errors.AsType[image.CompileError](err); !ok || !compiling {
		return err
	}
	root, unknown := operation.GeneratedRoot(s)
	if unknown != nil {
		return err
	}
	quiet := *s
	quiet.Handler = report.Discard
	texts, unknown := generation.GenerateInMemory(ctx, &quiet, root, generation.Generation{})
	if unknown != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(texts)), isGo) {
		return err
	}
	advised := *e
	advised.Next = "slipway generate"
	return &advised
}

func isGo(path string) bool { return filepath.Ext(path) == ".go" }

// An Archive is an image to save.
type Archive struct {
	Image    string
	File     string
	Format   string // DockerArchive, OCIArchive or empty, as the platforms need it
	Platform string // one of several; empty for all
}

// Save saves an image that was built into an archive.
func Save(ctx context.Context, s *operation.Session, a Archive) (image.Saved, error) {
	saved, err := image.New(s.Getenv, s.Handler).Save(ctx, image.Save{Ref: a.Image, File: s.Absolute(a.File), Format: a.Format, Platform: a.Platform})
	if err != nil {
		return image.Saved{}, err
	}
	s.Handler.Handle(report.Result{Text: fmt.Sprintf("saved %s to %s, %s, format %s", saved.Name, a.File, operation.FormatSize(saved.Size), saved.Format), Value: saved})
	return saved, nil
}

// Names lists the names of the images that are kept, for completion.
func Names(s *operation.Session) []string { return image.New(s.Getenv, s.Handler).Names() }

// Inspect answers with what an image that was built is, or with its bills of materials.
func Inspect(ctx context.Context, s *operation.Session, name string, sbom bool) (image.Image, error) {
	i, err := image.New(s.Getenv, s.Handler).Inspect(ctx, image.Inspect{Ref: name, SBOM: sbom})
	if err != nil {
		return image.Image{}, err
	}
	text := inspected(i)
	if sbom {
		text = bills(i)
	}
	s.Handler.Handle(report.Result{Text: text, Value: i})
	return i, nil
}

// List answers with the images that were built.
func List(ctx context.Context, s *operation.Session) ([]image.Listed, error) {
	all, err := image.New(s.Getenv, s.Handler).List(ctx)
	if err != nil {
		return nil, err
	}
	value := struct {
		Images []image.Listed `json:"images"`
	}{all}
	s.Handler.Handle(report.Result{Text: imageTable(all), Value: value})
	return all, nil
}

// Remove removes images that were built. One that is not there is no mistake.
func Remove(ctx context.Context, s *operation.Session, names ...string) ([]string, error) {
	removed, err := image.New(s.Getenv, s.Handler).Remove(ctx, names...)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(removed))
	for i, name := range removed {
		lines[i] = "removed " + name
	}
	value := struct {
		Removed []string `json:"removed"`
	}{removed}
	s.Handler.Handle(report.Result{Text: strings.Join(lines, "\n"), Value: value})
	return removed, nil
}

// builtText says what was built.
func builtText(i image.Image) string {
	verb := "built"
	if i.Unchanged {
		verb = "unchanged:"
	}
	return fmt.Sprintf("%s %s for %s, %s\n%s", verb, i.Name, platforms(i), operation.FormatSize(i.Size), i.Digest)
}

// inspected shows an image in columns.
func inspected(i image.Image) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n  digest\t%s\n  type\t%s\n  size\t%s\n", i.Name, i.Digest, i.MediaType, operation.FormatSize(i.Size))
	for _, p := range i.Platforms {
		fmt.Fprintf(w, "%s\n  digest\t%s\n  created\t%s\n  size\t%s\n  user\t%s\n  entrypoint\t%s\n", p.Platform, p.Digest, p.Created, operation.FormatSize(p.Size),
			cmp.Or(p.User, "root"), strings.Join(p.Entrypoint, " "))
		if len(p.Command) > 0 {
			fmt.Fprintf(w, "  command\t%s\n", strings.Join(p.Command, " "))
		}
		for _, e := range p.Env {
			fmt.Fprintf(w, "  env\t%s\n", e)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
			fmt.Fprintf(w, "  label\t%s=%s\n", name, p.Labels[name])
		}
		for _, l := range p.Layers {
			fmt.Fprintf(w, "  layer\t%s %s %s\n", l.Digest, operation.FormatSize(l.Size), l.Made)
		}
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}

// bills are the bills of materials of all platforms.
func bills(i image.Image) string {
	var b bytes.Buffer
	for _, p := range i.Platforms {
		_ = json.Indent(&b, p.SBOM, "", "  ") // it came as JSON
		b.WriteByte('\n')
	}
	return b.String()
}

// imageTable shows images in columns.
func imageTable(all []image.Listed) string {
	if len(all) == 0 {
		return "there are no images; `slipway image build -t NAME` builds one, `slipway image pull NAME` pulls one"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "NAME\tDIGEST\tPLATFORMS\tCREATED\tSIZE")
	for _, i := range all {
		const short = len("sha256:") + 12
		fmt.Fprintf(w, "%s\t%.*s\t%s\t%s\t%s\n", i.Name, short, i.Digest, strings.Join(i.Platforms, ","), i.Created, operation.FormatSize(i.Size))
	}
	_ = w.Flush() // a strings.Builder takes everything
	return b.String()
}
