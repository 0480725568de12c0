// Package images handles container images: it builds, pushes, pulls and loads them, and logs in to registries.
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

// A Build describes an image to build. Dir is set by [BuildImage].
type Build struct {
	image.Build
	File   string // archive to save the image to as well, or ""
	Format string // of the archive: DockerArchive, OCIArchive, or "" to let the platforms decide
}

// Formats of archives.
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

// folderWithoutGo returns the folder to build an image from if it has a Dockerfile and no Go module. It is the named
// folder, as for docker build, or the working folder.
func folderWithoutGo(s *operation.Session, b Build) (folder string, is bool) {
	at := *s
	at.Dir = s.Absolute(cmp.Or(b.Package, "."))
	return at.Dir, (b.Dockerfile != "" || operation.IsFile(at.Dir, "Dockerfile")) && operation.WithoutGo(&at)
}

// packageIn returns the module's folder and the package for a name: a package of this project, or an absolute path in
// any project. A module's folder without a main package stands for the manager.
func packageIn(s *operation.Session, named string) (dir, pkg string, err error) {
	if !filepath.IsAbs(named) {
		dir, err = operation.Module(s)
		return dir, named, err
	}
	at := *s
	if at.Dir, err = filepath.EvalSymlinks(named); err != nil {
		return "", "", &report.Error{What: "the folder to build cannot be read", Where: named, Err: err, Code: report.UsageCode}
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

// withGenerate advises slipway generate if a project does not compile and its generated Go code is out of date. A new
// kubebuilder project lacks deep copy methods until they are generated.
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

// An Archive describes how to save an image.
type Archive struct {
	Image    string
	File     string
	Format   string // DockerArchive, OCIArchive, or "" to let the platforms decide
	Platform string // one of several, or "" for all
}

// Save saves a stored image to an archive.
func Save(ctx context.Context, s *operation.Session, a Archive) (image.Saved, error) {
	saved, err := image.New(s.Getenv, s.Handler).Save(ctx, image.Save{Ref: a.Image, File: s.Absolute(a.File), Format: a.Format, Platform: a.Platform})
	if err != nil {
		return image.Saved{}, err
	}
	s.Handler.Handle(report.Result{Text: fmt.Sprintf("saved %s to %s, %s, format %s", saved.Name, a.File, operation.FormatSize(saved.Size), saved.Format), Value: saved})
	return saved, nil
}

// Names returns the names of the stored images, for completion.
func Names(s *operation.Session) []string { return image.New(s.Getenv, s.Handler).Names() }

// Inspect reports a stored image, or with sbom its bills of materials.
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

// List reports the stored images.
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

// Remove removes stored images and returns the removed names. A missing image is not an error.
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

func builtText(i image.Image) string {
	verb := "built"
	if i.Unchanged {
		verb = "unchanged:"
	}
	return fmt.Sprintf("%s %s for %s, %s\n%s", verb, i.Name, platforms(i), operation.FormatSize(i.Size), i.Digest)
}

// inspected formats an image in columns.
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
	_ = w.Flush() // a strings.Builder does not fail
	return b.String()
}

// bills returns the bills of materials of all platforms as JSON.
func bills(i image.Image) string {
	var b bytes.Buffer
	for _, p := range i.Platforms {
		_ = json.Indent(&b, p.SBOM, "", "  ") // it is valid JSON
		b.WriteByte('\n')
	}
	return b.String()
}

// imageTable formats images in columns.
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
	_ = w.Flush() // a strings.Builder does not fail
	return b.String()
}
