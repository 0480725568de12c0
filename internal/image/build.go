package image

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/slipway-dev/slipway/internal/image/compile"
	"github.com/slipway-dev/slipway/internal/image/layers"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
	"github.com/slipway-dev/slipway/internal/image/sbom"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// builder builds one image.
type builder struct {
	*worker
	Build
	manager compile.Manager
	base    name.Reference // nil for none
	mirrors reference.Mirrors
	temp    string
	memory  layers.Memory
	made    map[string]v1.Layer // by what they were made of
}

// build builds an image, for each platform one, and keeps it under its name.
func (w *worker) build(ctx context.Context, r Build) (Image, error) {
	tag, err := reference.ParseTag(r.Tag)
	if err != nil {
		return Image{}, err
	}
	b := &builder{worker: w, Build: r, made: map[string]v1.Layer{}}
	source := compile.Source{Package: r.Package, Dockerfile: r.Dockerfile, Target: r.Target, Arguments: r.BuildArgs, Command: command(r), WithBase: r.Base != "", AllowIncomplete: r.AllowIncomplete}
	if b.manager, err = compile.Find(r.Dir, source); err != nil {
		return Image{}, err
	}
	onTop := r.Base
	if len(b.manager.Programs) > 0 {
		b.manager, err = b.manager.Prepare(ctx)
	} else {
		onTop, err = b.onTop()
	}
	if err != nil {
		return Image{}, err
	}
	if b.mirrors, err = w.mirrors(r.Mirrors); err != nil {
		return Image{}, err
	}
	b.warnings()
	if onTop != "" {
		if b.base, err = reference.Parse(onTop); err != nil {
			return Image{}, err
		}
	}
	var done func()
	if b.temp, done, err = w.store.Temp(); err != nil {
		return Image{}, err
	}
	defer done()
	b.memory = layers.Memory{Dir: w.store.Notes(), Blob: w.store.Blob, Temp: b.temp}
	w.store.Tidy()
	img, err := b.all(ctx)
	if err != nil {
		return Image{}, err
	}
	before, _ := w.store.Get(tag) // that there is none, or a damaged one, is no obstacle
	if err := w.store.Put(ctx, tag, img); err != nil {
		return Image{}, &report.Error{What: "the image cannot be stored", Where: w.store.Dir, Err: err}
	}
	for key, layer := range b.made {
		if err := b.memory.Keep(key, layer); err != nil {
			return Image{}, err
		}
	}
	entry, err := w.store.Get(tag)
	if err != nil {
		return Image{}, err
	}
	described, err := describe(entry, false)
	described.Unchanged = before.Descriptor.Digest == entry.Descriptor.Digest
	return described, err
}

// command is the command that builds the image, for advice: a package may follow.
func command(r Build) string {
	words := "slipway image build -t " + shellword.Quote(r.Tag)
	if r.Dockerfile != "" {
		words += " -f " + shellword.Quote(r.Dockerfile)
	}
	if r.Target != "" {
		words += " --target " + shellword.Quote(r.Target)
	}
	return words
}

// warnings tell what the Dockerfile says that the image will not have.
func (b *builder) warnings() {
	harmless, lacks := b.manager.Left(b.Base != "" || len(b.manager.Programs) == 0)
	if user := b.manager.Recipe.User; user != "" && len(b.manager.Programs) > 0 {
		if _, known := rootfs.User(user); !known {
			harmless = append(harmless, fmt.Sprintf("%s: USER %s has no known number, so the image runs as %s; write its number", b.manager.File, user, nonroot))
		}
	}
	for _, text := range slices.Concat(harmless, lacks) {
		b.warn(text)
	}
}

// all builds the images of all platforms.
func (b *builder) all(ctx context.Context) (store.Image, error) {
	platforms, err := b.platforms()
	if err != nil {
		return store.Image{}, err
	}
	var img store.Image
	var images []v1.Image
	for _, p := range platforms {
		one, about, err := b.one(ctx, p)
		if err != nil {
			return img, err
		}
		images = append(images, one)
		if about != nil {
			img.About = append(img.About, about)
		}
	}
	if len(images) == 1 {
		img.Image = images[0]
		return img, nil
	}
	img.Index, err = pack.Index(images)
	return img, err
}

func (b *builder) platforms() ([]compile.Platform, error) {
	var platforms []compile.Platform
	seen := map[string]bool{}
	for _, text := range b.Platforms {
		p, err := compile.ParsePlatform(text)
		if err != nil {
			return nil, err
		}
		if !seen[p.String()] {
			platforms = append(platforms, p)
		}
		seen[p.String()] = true
	}
	if len(platforms) == 0 {
		platforms = append(platforms, compile.Platform{OS: "linux", Arch: runtime.GOARCH})
	}
	return platforms, nil
}

// one builds the image of one platform, and its bill of materials.
func (b *builder) one(ctx context.Context, p compile.Platform) (img, about v1.Image, err error) {
	if len(b.manager.Programs) == 0 {
		img, err = b.ofFiles(ctx, p)
		return img, nil, err
	}
	programs, err := b.compile(ctx, p)
	defer func() {
		for _, program := range programs {
			_ = program.Close() // it is read, not written
		}
	}()
	if err != nil {
		return nil, nil, err
	}
	begin := time.Now()
	created, err := programs[0].Created(b.getenv)
	if err != nil {
		return nil, nil, err
	}
	base, parts, err := b.below(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if files, err := b.files(b.manager, created); err != nil {
		return nil, nil, err
	} else if files != nil {
		parts = append(parts, pack.Part{Layer: files, By: "files of the project"})
	}
	var materials []sbom.Program
	for i, program := range programs {
		layer, digest, err := b.programLayer(program, b.manager.Programs[i].Path, created)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, pack.Part{Layer: layer, By: "go build " + b.manager.Programs[i].Package})
		materials = append(materials, sbom.Program{Info: program.Info, SHA256: digest})
	}
	spec := b.spec(programs[0], b.manager.Programs[0].Path, created)
	if b.base != nil {
		if err := nameBase(base, b.base, spec.Labels); err != nil {
			return nil, nil, err
		}
	}
	if img, err = pack.Image(base, spec, parts...); err != nil {
		return nil, nil, err
	}
	if about, err = bill(materials, created, img); err != nil {
		return nil, nil, err
	}
	b.step("packed the image for "+p.String(), begin)
	return img, about, nil
}

// compile compiles the programs. Those that it returns are to be closed, also with an error.
func (b *builder) compile(ctx context.Context, p compile.Platform) (programs []compile.Program, err error) {
	for _, one := range b.manager.Programs {
		begin := time.Now()
		b.begin("compiling " + one.Package + " for " + p.String())
		program, err := b.manager.Compile(ctx, one, p, b.store)
		if err != nil {
			return programs, err
		}
		programs = append(programs, program)
		b.step("compiled "+one.Package+" for "+p.String(), begin)
	}
	return programs, nil
}

// programLayer is the layer of a program, and the program's digest.
func (b *builder) programLayer(program compile.Program, to string, created time.Time) (v1.Layer, string, error) {
	digest, err := program.Digest()
	if err != nil {
		return nil, "", err
	}
	layer, err := b.layer(layers.Key("program", digest, to, created.String()), func() (v1.Layer, error) {
		return pack.ProgramLayer(program.Path, strings.TrimPrefix(to, "/"), created, b.temp)
	})
	return layer, digest, err
}

// files is the layer of the project's files and of empty folders; nil if the image has none.
func (b *builder) files(of compile.Manager, created time.Time) (v1.Layer, error) {
	folders := of.Recipe.Folders
	if len(of.Files)+len(folders) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(b.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var files []pack.Copied
	for _, f := range folders {
		files = append(files, pack.Copied{To: strings.TrimPrefix(f.Path, "/"), UID: f.UID, GID: f.GID})
	}
	for _, f := range of.Files {
		one := pack.Copied{From: f.From, To: strings.TrimPrefix(f.To, "/"), Follow: f.Follow}
		owner, _ := rootfs.User(cmp.Or(f.Owner, "0:0"))
		user, group, _ := strings.Cut(owner, ":")
		for text, number := range map[string]*int{user: &one.UID, cmp.Or(group, user): &one.GID} {
			if *number, err = strconv.Atoi(text); err != nil {
				return nil, err
			}
		}
		if f.Mode != "" {
			if one.Mode, err = strconv.ParseInt(f.Mode, 8, 32); err != nil {
				return nil, err
			}
		}
		files = append(files, one)
	}
	layer, err := pack.CopiedLayer(root, files, created, b.temp)
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "a file that the Dockerfile copies cannot be put into the image", Where: of.File, Err: err}
	}
	return layer, nil
}

// layer recalls the layer of what the key names, or makes it.
func (b *builder) layer(key string, make func() (v1.Layer, error)) (v1.Layer, error) {
	if layer, ok := b.memory.Recall(key); ok {
		return layer, nil
	}
	if layer, ok := b.made[key]; ok {
		return layer, nil
	}
	layer, err := make()
	b.made[key] = layer
	return layer, err
}

// below is what the program is put on: the base that was asked for, or nothing but the files that it needs.
func (b *builder) below(ctx context.Context, p compile.Platform) (v1.Image, []pack.Part, error) {
	if b.base != nil {
		img, err := b.pulled(ctx, p)
		return img, nil, err
	}
	goroot, err := b.manager.Goroot(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	files, err := rootfs.Files(goroot)
	if err != nil {
		return nil, nil, err
	}
	layer, err := b.layer(layers.Key("rootfs", rootfs.Digest(files)), func() (v1.Layer, error) {
		return pack.Layer(files, time.Unix(0, 0), b.temp) // the same layer whatever the program
	})
	return pack.Scratch(), []pack.Part{{Layer: layer, By: "certificates, users and time zones"}}, err
}

// pulled is the base for a platform.
func (b *builder) pulled(ctx context.Context, p compile.Platform) (v1.Image, error) {
	registries := b.registries("")
	registries.Mirrors = b.mirrors
	return registries.Pull(ctx, b.base, platform(p))
}

func platform(p compile.Platform) v1.Platform {
	return v1.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}
}

// spec is what the image says, by the Dockerfile, the program, and the user.
func (b *builder) spec(program compile.Program, binary string, created time.Time) pack.Spec {
	recipe := b.manager.Recipe
	s := pack.Spec{Platform: platform(program.Platform), Created: created, User: nonroot, Workdir: recipe.Workdir, Volumes: recipe.Volumes, StopSignal: recipe.StopSignal, Entrypoint: recipe.Entrypoint, Command: recipe.Command,
		Env: recipe.Env, Labels: map[string]string{"org.opencontainers.image.title": path.Base(program.Info.Main.Path)}}
	if user, known := rootfs.User(recipe.User); known {
		s.User = user
	}
	if len(s.Entrypoint) == 0 && recipe.Started() != binary { // CMD may be all that starts it
		s.Entrypoint = []string{binary}
	}
	if revision := program.Setting("vcs.revision"); revision != "" && program.Setting("vcs.modified") != "true" {
		s.Labels["org.opencontainers.image.revision"] = revision
	}
	if v := program.Info.Main.Version; v != "" && v != "(devel)" {
		s.Labels["org.opencontainers.image.version"] = v
	}
	maps.Copy(s.Labels, recipe.Labels)
	maps.Copy(s.Labels, b.Labels)
	return s
}

// nonroot is who an image runs as that says nothing else.
var nonroot = fmt.Sprintf("%d:%d", rootfs.Nonroot, rootfs.Nonroot)

// nameBase notes what an image is based on.
func nameBase(base v1.Image, ref name.Reference, labels map[string]string) error {
	digest, err := base.Digest()
	if err != nil {
		return err
	}
	labels["org.opencontainers.image.base.name"], labels["org.opencontainers.image.base.digest"] = ref.Name(), digest.String()
	return nil
}

// bill is the artifact with the bill of materials of an image.
func bill(programs []sbom.Program, created time.Time, img v1.Image) (v1.Image, error) {
	text, err := sbom.SPDX(programs, created)
	if err != nil {
		return nil, err
	}
	descriptor, err := partial.Descriptor(img)
	if err != nil {
		return nil, err
	}
	return pack.Artifact(text, sbom.MediaType, *descriptor)
}

// document is the text of an artifact.
func document(about v1.Image) (json.RawMessage, error) {
	layers, err := about.Layers()
	if err != nil || len(layers) == 0 {
		return nil, err
	}
	r, err := layers[0].Compressed()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var text json.RawMessage
	return text, json.NewDecoder(r).Decode(&text)
}
